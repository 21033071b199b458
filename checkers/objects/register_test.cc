#include "checkers/objects/register.h"

#include "checkers/objects/data_cases.h"

namespace holdfast::objects {
namespace {

using testing::agree;
using testing::at;
using testing::History;
using testing::ok;
using testing::random_history;
using testing::refused;
using testing::try_every_history;
using testing::unknown;

const Promise kRegister{.kind = Kind::register_};

// Written values come as 1, 2, 3, …, each once.
bool each_written_once(const History& history) {
  std::int64_t written = 0;
  for (const Operation& each : history) {
    if (each.f == Call::read || each.refused()) continue;
    if ((each.f == Call::cas ? each.result : each.argument) != ++written) return false;
  }
  return true;
}

// Values first appear as 1, 2, 3, …
bool named_in_order(const History& history) {
  std::int64_t greatest = 0;
  for (const Operation& each : history) {
    for (const std::int64_t value : {each.argument, each.result}) {
      if (value == kNothing || value <= greatest) continue;
      if (value != ++greatest) return false;
    }
  }
  return true;
}

std::vector<Operation> reads_and_writes(std::int64_t values) {
  std::vector<Operation> menu = {ok(Call::read, kNothing, kNothing)};
  for (std::int64_t value = 1; value <= values; ++value) {
    menu.push_back(ok(Call::read, kNothing, value));
    menu.push_back(ok(Call::write, value));
    menu.push_back(unknown(Call::write, value));
  }
  return menu;
}

std::vector<Operation> with_cas(std::int64_t values, bool refusals) {
  std::vector<Operation> menu = reads_and_writes(values);
  for (std::int64_t expected = 0; expected <= values; ++expected) {
    const std::int64_t from = expected == 0 ? kNothing : expected;
    for (std::int64_t value = 1; value <= values; ++value) {
      menu.push_back(ok(Call::cas, from, value));
      menu.push_back(unknown(Call::cas, from, value));
    }
    if (refusals) menu.push_back(refused(Call::cas, from, values + 1));
  }
  return menu;
}

TEST(Register, AllHistoriesOfReadsAndWritesOfUniqueValues) {
  const auto menu = reads_and_writes(4);
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U}) {
    const auto suits = [&](const History& history) {
      if (!each_written_once(history)) return false;
      if (history.size() < count) return true;
      const auto writes = std::ranges::count_if(history, [](const Operation& each) { return each.f == Call::write; });
      return std::ranges::all_of(history,
                                 [&](const Operation& each) { return each.f == Call::write || each.result <= writes; });
    };
    EXPECT_GT(try_every_history(kRegister, menu, count, suits, decide_register), 0U);
  }
}

TEST(Register, AllHistoriesWithCompareAndSetOfUniqueValues) {
  const auto menu = with_cas(3, true);
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    EXPECT_GT(try_every_history(kRegister, menu, count, each_written_once, decide_register), 0U);
  }
}

TEST(Register, AllHistoriesOfRepeatedValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U}) {
    EXPECT_GT(try_every_history(kRegister, reads_and_writes(2), count, named_in_order, decide_register), 0U);
  }
  const auto menu = with_cas(2, true);
  for (const std::size_t count : {1U, 2U, 3U}) {
    EXPECT_GT(try_every_history(kRegister, menu, count, named_in_order, decide_register), 0U);
  }
}

// Runs a real register. `fresh`: every written value is new; else of `values`.
History simulated(Rng& rng, bool fresh, bool refusals, std::int64_t values, std::size_t operations) {
  std::int64_t written = 0;
  oracle::Simulation simulation;
  simulation.operations = operations;
  simulation.processes = 2 + static_cast<std::uint32_t>(rng.below(3));
  simulation.unknown = rng.chance(0.5) ? 0.2 : 0.0;
  simulation.refusals = refusals;
  simulation.swaps = rng.below(6);
  simulation.next = [&](Rng& random, std::uint32_t, std::size_t) -> std::optional<Operation> {
    const auto any = [&] {
      const auto value =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(fresh ? written + 1 : values)));
      return value == 0 ? kNothing : value;
    };
    const auto to_write = [&] {
      return fresh ? ++written : 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(values)));
    };
    switch (random.below(5)) {
      case 0:
      case 1:
        return ok(Call::read, kNothing);
      case 2:
      case 3:
        return ok(Call::write, to_write());
      default: {
        const std::int64_t expected = any();
        return ok(Call::cas, expected, to_write());
      }
    }
  };
  return oracle::simulate(kRegister, simulation, rng);
}

TEST(Register, RandomHistories) {
  Rng rng(11);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 2; ++i) {
    const auto values = 1 + static_cast<std::int64_t>(rng.below(3));
    const auto menu = rng.chance(0.3) ? reads_and_writes(values) : with_cas(values, rng.chance(0.5));
    ASSERT_TRUE(agree(kRegister, random_history(menu, 3 + rng.below(4), rng.chance(0.3), rng), decide_register));
  }
}

TEST(Register, SimulatedAndPerturbedHistories) {
  Rng rng(12);
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const History history = simulated(rng, rng.chance(0.7), rng.chance(0.5), 3, 4 + rng.below(8));
    ASSERT_TRUE(agree(kRegister, history, decide_register));
  }
}

Answer answer_of(const History& history, const Promise& promise = kRegister) {
  return decide_register(promise, history, {}).answer;
}

TEST(Register, WeakeningRenamingShiftingAndSplittingKeepTheAnswer) {
  Rng rng(13);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
    const bool fresh = rng.chance(0.7);
    const History history = simulated(rng, fresh, true, 3, 20);
    const Answer answer = answer_of(history);
    History other = history;
    for (Operation& each : other) {
      each.call = each.call * 3 - 1000;
      if (each.ret != kNever) each.ret = each.ret * 3 - 1000;
      if (each.argument != kNothing) each.argument = each.argument * 7'000'000'000 + 5;
      if (each.result != kNothing) each.result = each.result * 7'000'000'000 + 5;
    }
    ASSERT_EQ(answer_of(other), answer);
    // The same object again afterwards, reset by a write that overlaps nothing.
    other = history;
    const Instant end = 1000;
    other.push_back(at(end, end + 1, ok(Call::write, 900), 100));
    std::vector<Operation> again = history;
    for (Operation& each : again) {
      each.call += end + 2;
      if (each.ret != kNever) each.ret += end + 2;
      each.process += 200;
      for (std::int64_t* value : {&each.argument, &each.result}) *value = *value == kNothing ? 900 : *value + 1000;
      if (each.f == Call::read) each.argument = kNothing;
      if (each.f == Call::write || each.unknown()) each.result = each.f == Call::cas ? each.result : kNothing;
      other.push_back(each);
    }
    ASSERT_EQ(answer_of(other), answer) << oracle::print(kRegister, other);
    if (answer != Answer::linearizable) continue;
    for (std::uint32_t weak = 0; weak < history.size(); ++weak) {
      std::vector<std::uint32_t> strong;
      for (std::uint32_t k = 0; k < history.size(); ++k) {
        if (k != weak && rng.chance(0.8)) strong.push_back(k);
      }
      ASSERT_EQ(answer_of(oracle::weakened(history, strong)), Answer::linearizable);
    }
  }
}

TEST(Register, StaleReadHasThreeObligationsAndItsTwinNone) {
  History history = {at(0, 1, ok(Call::write, 1)), at(2, 3, ok(Call::write, 2)), at(4, 5, ok(Call::read, kNothing, 1))};
  const Decision decision = decide_register(kRegister, history, {});
  EXPECT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "stale-read");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_NE(decision.because.find("{2}"), std::string::npos) << decision.because;
  history[2].result = 2;
  EXPECT_EQ(answer_of(history), Answer::linearizable);
}

TEST(Register, TwoValuesAtOnceNeedFourObligations) {
  History history = {at(0, 1, ok(Call::write, 1)), at(2, 20, ok(Call::write, 2)), at(3, 4, ok(Call::read, kNothing, 2)),
                     at(5, 6, ok(Call::read, kNothing, 1)), at(7, 8, ok(Call::read, kNothing, 2))};
  const Decision decision = decide_register(kRegister, history, {});
  EXPECT_EQ(decision.answer, Answer::violation);
  EXPECT_LE(decision.core.size(), 4U);
  history.pop_back();
  history[3].result = 2;
  EXPECT_EQ(answer_of(history), Answer::linearizable);
}

// One value is written twice far away: everything else stays with the zones.
TEST(Register, OnlyTheComponentOfARepeatedValueIsSearched) {
  History history;
  for (Instant i = 0; i < 2000; ++i) {
    const std::int64_t value = i == 1000 || i == 1001 ? 7'777 : i + 10'000;
    history.push_back(at(4 * i, 4 * i + 5, ok(Call::write, value), static_cast<std::uint32_t>(i % 2)));
    history.push_back(at(4 * i + 6, 4 * i + 7, ok(Call::read, kNothing, value), 2));
    std::ranges::stable_sort(history.end() - 2, history.end(), {}, &Operation::call);
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  const Decision decision = decide_register(kRegister, history, {});
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_LT(decision.searched, 20U);
}

TEST(Register, RefusesWhatMakesNoSense) {
  EXPECT_THROW(answer_of({at(0, 1, ok(Call::insert, 1))}), std::invalid_argument);
  EXPECT_THROW(answer_of({at(0, 1, refused(Call::write, 1))}), std::invalid_argument);
  EXPECT_THROW(answer_of({at(2, 3, ok(Call::write, 1)), at(0, 1, ok(Call::write, 2))}), std::invalid_argument);
}

TEST(Register, StopsWhenTheTimeIsOver) {
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const History history = {at(0, 1, ok(Call::write, 1)), at(2, 3, ok(Call::read, kNothing, 1))};
  EXPECT_EQ(decide_register(kRegister, history, limits).answer, Answer::undecided);
}

}  // namespace
}  // namespace holdfast::objects
