// Histories of things that are put in and taken out, for the tests of queue, stack and priority queue. For tests only.
#pragma once

#include <optional>
#include <vector>

#include "checkers/objects/data_cases.h"

namespace holdfast::objects::testing {

inline std::vector<Operation> items_menu(std::int64_t values, bool unknown_extracts) {
  std::vector<Operation> menu = {ok(Call::extract, kNothing, kNothing)};
  if (unknown_extracts) menu.push_back(unknown(Call::extract, kNothing));
  for (std::int64_t value = 1; value <= values; ++value) {
    menu.push_back(ok(Call::insert, value));
    menu.push_back(unknown(Call::insert, value));
    menu.push_back(ok(Call::extract, kNothing, value));
  }
  return menu;
}

// Values are put in as 1, 2, 3, …, each once: enough where only equality matters.
inline bool each_inserted_once(const History& history) {
  std::int64_t inserted = 0;
  for (const Operation& each : history) {
    if (each.f == Call::insert && each.argument != ++inserted) return false;
  }
  return true;
}

// Each value is put in at most once, in any order: where the values' order matters.
inline bool inserted_at_most_once(const History& history) {
  std::uint64_t seen = 0;
  for (const Operation& each : history) {
    if (each.f != Call::insert) continue;
    if ((seen >> static_cast<unsigned>(each.argument) & 1U) != 0) return false;
    seen |= std::uint64_t{1} << static_cast<unsigned>(each.argument);
  }
  return true;
}

// Runs a real object. `fresh`: every value is new, in a random order of values; else one of three.
inline History simulated_items(const Promise& promise, Rng& rng, bool fresh, std::size_t operations,
                               bool unknown_extracts) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < operations; ++i) values.push_back(static_cast<std::int64_t>(i + 1));
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
  std::size_t inserted = 0;
  oracle::Simulation simulation;
  simulation.operations = operations;
  simulation.processes = 2 + static_cast<std::uint32_t>(rng.below(3));
  simulation.unknown = rng.chance(0.5) ? 0.15 : 0.0;
  simulation.swaps = rng.below(6);
  simulation.next = [&](Rng& random, std::uint32_t, std::size_t) -> std::optional<Operation> {
    if (random.chance(0.5)) return ok(Call::extract, kNothing);
    return ok(Call::insert, fresh ? values[inserted++] : 1 + static_cast<std::int64_t>(random.below(3)));
  };
  History history = oracle::simulate(promise, simulation, rng);
  if (unknown_extracts) return history;
  std::erase_if(history, [](const Operation& each) { return each.unknown() && each.f == Call::extract; });
  return history;
}

inline void try_random_items(const Promise& promise, const oracle::Decider& decider, std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 2; ++i) {
    const auto menu = items_menu(1 + static_cast<std::int64_t>(rng.below(4)), rng.chance(0.5));
    History history = random_history(menu, 3 + rng.below(5), rng.chance(0.3), rng);
    if (rng.chance(0.7)) {  // unique: later inserts of the same value go
      std::uint64_t seen = 0;
      std::erase_if(history, [&seen](const Operation& each) {
        const std::uint64_t bit = std::uint64_t{1} << (static_cast<unsigned>(each.argument) & 63U);
        return each.f == Call::insert && (std::exchange(seen, seen | bit) & bit) != 0;
      });
    }
    ASSERT_TRUE(agree(promise, history, decider));
  }
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const History history = simulated_items(promise, rng, rng.chance(0.8), 4 + rng.below(9), rng.chance(0.5));
    ASSERT_TRUE(agree(promise, history, decider));
  }
}

// All values that come out are among those put in (a prefix of a history may still put them in).
inline bool nothing_from_nowhere(const History& history) {
  return std::ranges::all_of(history, [&history](const Operation& out) {
    return out.f == Call::insert || out.result == kNothing || std::ranges::any_of(history, [&out](const Operation& in) {
             return in.f == Call::insert && in.argument == out.result;
           });
  });
}

// The history that runs backwards: what was taken out is put in. Only for histories without empties and unknown ones,
// in which all that was put in was taken out.
inline std::optional<History> reversed(const History& history) {
  History result;
  for (Operation each : history) {
    if (each.unknown() || (each.f == Call::extract && each.result == kNothing)) return std::nullopt;
    std::swap(each.call, each.ret);
    each.call = -each.call;
    each.ret = -each.ret;
    std::swap(each.argument, each.result);
    each.f = each.f == Call::insert ? Call::extract : Call::insert;
    result.push_back(each);
  }
  std::ranges::stable_sort(result, {}, &Operation::call);
  return result;
}

inline void keep_the_answer(const Promise& promise, const oracle::Decider& decider, bool names_matter, bool reversible,
                            std::uint64_t seed) {
  Rng rng(seed);
  const auto answer_of = [&](const History& history) { return decider(promise, history, {}).answer; };
  std::size_t turned = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
    History history = simulated_items(promise, rng, true, 24, false);
    const Answer answer = answer_of(history);
    History other = history;
    for (Operation& each : other) {
      each.call = each.call * 3 - 1000;
      if (each.ret != kNever) each.ret = each.ret * 3 - 1000;
      for (std::int64_t* value : {&each.argument, &each.result}) {
        if (*value != kNothing) *value = (names_matter ? *value : 100 - *value) * 7'000'000'000;
      }
    }
    ASSERT_EQ(answer_of(other), answer);
    // A piece before, after which the object is empty again.
    other = {at(-9, -6, ok(Call::insert, 1000), 90), at(-8, -5, ok(Call::insert, 1001), 91),
             at(-4, -3, ok(Call::extract, kNothing, 1000), 90), at(-2, -1, ok(Call::extract, kNothing, 1001), 91)};
    other.insert(other.end(), history.begin(), history.end());
    ASSERT_EQ(answer_of(other), answer);
    if (answer == Answer::linearizable) {
      std::vector<std::uint32_t> strong;
      for (std::uint32_t k = 0; k < history.size(); ++k) {
        if (history[k].f == Call::extract || rng.chance(0.7)) strong.push_back(k);
      }
      ASSERT_EQ(answer_of(oracle::weakened(history, strong)), Answer::linearizable);
    }
    if (!reversible) continue;
    std::erase_if(history, [&history](const Operation& each) {
      if (each.unknown() || (each.f == Call::extract && each.result == kNothing)) return true;
      return each.f == Call::insert && std::ranges::none_of(history, [&each](const Operation& out) {
               return out.f == Call::extract && out.result == each.argument;
             });
    });
    const auto backwards = nothing_from_nowhere(history) ? reversed(history) : std::nullopt;
    if (backwards) {
      ++turned;
      ASSERT_EQ(answer_of(*backwards), answer_of(history)) << oracle::print(promise, history);
    }
  }
  EXPECT_EQ(turned > 0, reversible);
}

}  // namespace holdfast::objects::testing
