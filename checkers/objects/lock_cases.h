// Histories for the tests of locks: all small ones over a menu of operations, random ones, simulated and perturbed
// ones, and what must stay true when a history is changed. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkers/oracle/oracle.h"
#include "harness/rng.h"

namespace holdfast::objects::testing {

using oracle::History;

inline Operation lock_operation(Call f, std::int64_t argument = kNothing, Outcome outcome = Outcome::ok,
                                std::int64_t result = kNothing) {
  return {.argument = argument, .result = result, .f = f, .outcome = outcome};
}

// The same at a time, by a process that is also the hold.
inline Operation at(Instant call, Instant ret, Operation operation, std::uint32_t hold) {
  operation.call = call;
  operation.ret = operation.unknown() ? kNever : ret;
  operation.process = hold;
  operation.hold = hold;
  return operation;
}

// Is it a history at all? One acquire per hold id (`acquires`: that many), a process does one thing after the other,
// and where processes retire an unknown operation is the last one.
inline bool well_formed(const Promise& promise, const History& history, std::size_t acquires = 1) {
  std::map<std::uint32_t, Instant> returned;
  std::map<std::uint32_t, std::size_t> acquired;
  std::map<std::uint32_t, std::size_t> tickets;
  for (const Operation& each : history) {
    const auto [last, first] = returned.try_emplace(each.process, each.ret);
    if (!first) {
      if (promise.identity == Identity::crash && last->second == kNever) return false;
      if (last->second != kNever && last->second >= each.call) return false;
      last->second = each.ret;
    }
    if (promise.identity != Identity::hold) continue;
    // Nobody gives up asking to release what nobody has asked for.
    const bool early = each.f == Call::release && acquired[each.hold] == 0 && tickets[each.hold] == 0;
    if (early && each.unknown()) return false;
    const bool begins = each.f == Call::acquire && (!each.refused() || promise.kind == Kind::fair_mutex);
    if (begins && ++acquired[each.hold] > acquires) return false;
    if (each.f == Call::ticket && ++tickets[each.hold] > 1) return false;
  }
  return true;
}

inline bool agree(const Promise& promise, const History& history, const oracle::Decider& decider,
                  const oracle::Truth& truth = oracle::possible) {
  const auto fault = oracle::disagreement(promise, history, decider, truth);
  if (fault) ADD_FAILURE() << *fault;
  return !fault;
}

// All histories of `count` operations of the menu by at most `owners` owners, in all arrangements in time; every
// operation of a hold by its own process, or (`apart`) each by another. Answers how many there were.
inline std::size_t try_every_history(const Promise& promise, const std::vector<Operation>& menu, std::size_t count,
                                     std::uint32_t owners, const oracle::Decider& decider, bool apart = false,
                                     std::size_t acquires = 1, const oracle::Truth& truth = oracle::possible) {
  std::size_t tried = 0;
  bool good = true;
  for (std::uint32_t mask = 0; mask < 1U << count; ++mask) {
    std::vector<bool> unknown(count);
    for (std::size_t i = 0; i < count; ++i) unknown[i] = (mask >> i & 1U) != 0;
    oracle::for_each_arrangement(unknown, [&](const std::vector<Instant>& call, const std::vector<Instant>& ret) {
      History history;
      const std::function<void(std::uint32_t)> extend = [&](std::uint32_t used) {
        const std::size_t i = history.size();
        if (i == count) {
          ++tried;
          good = agree(promise, history, decider, truth);
          return;
        }
        for (const Operation& operation : menu) {
          if (operation.unknown() != unknown[i]) continue;
          for (std::uint32_t owner = 0; good && owner <= std::min(used, owners - 1); ++owner) {
            history.push_back(operation);
            Operation& next = history.back();
            next.call = call[i];
            next.ret = ret[i];
            next.hold = owner;
            next.process = apart ? static_cast<std::uint32_t>(history.size()) : owner;
            if (well_formed(promise, history, acquires)) extend(std::max(used, owner + 1));
            history.pop_back();
          }
        }
      };
      if (good) extend(0);
    });
  }
  return tried;
}

// A random history of operations of the menu, as likely as not impossible.
inline History random_history(const Promise& promise, const std::vector<Operation>& menu, std::size_t count,
                              std::uint32_t owners, Rng& rng, std::size_t acquires = 1) {
  for (;;) {
    History history;
    struct Client {
      Instant free_at = 0;
      std::size_t acquired = 0;
      bool retired = false;
    };
    std::vector<Client> clients(owners);
    const auto width = static_cast<Instant>(2 + rng.below(8));
    for (std::size_t i = 0; i < count; ++i) {
      const auto owner = static_cast<std::uint32_t>(rng.below(owners));
      Client& client = clients[owner];
      if (client.retired) continue;
      Operation operation = menu[rng.below(menu.size())];
      // Mostly what a client would do: first acquire, then release.
      if (rng.chance(0.7)) {
        const Call wanted = client.acquired == 0 ? Call::acquire : Call::release;
        for (int tries = 0; tries < 20 && operation.f != wanted; ++tries) operation = menu[rng.below(menu.size())];
      }
      operation.call = client.free_at + static_cast<Instant>(rng.below(static_cast<std::uint64_t>(width)));
      operation.ret = operation.unknown()
                          ? kNever
                          : operation.call + 1 + static_cast<Instant>(rng.below(static_cast<std::uint64_t>(width)));
      operation.process = operation.hold = owner;
      client.free_at = (operation.unknown() ? operation.call : operation.ret) + 1;
      client.retired = operation.unknown() && promise.identity == Identity::crash;
      if (operation.f == Call::acquire) ++client.acquired;
      if (operation.f == Call::release && promise.identity == Identity::crash) client.acquired = 0;
      history.push_back(operation);
    }
    // No two events at one instant: the same order in all, with room between.
    for (std::size_t i = 0; i < history.size(); ++i) {
      history[i].call = history[i].call * 64 + static_cast<Instant>(rng.below(32));
      if (history[i].ret != kNever) history[i].ret = history[i].ret * 64 + static_cast<Instant>(rng.below(32));
    }
    oracle::normalise(history);
    if (well_formed(promise, history, acquires)) return history;
  }
}

// Tries random_cases() of them; answers how many were impossible.
inline std::uint64_t try_random_histories(const Promise& promise, const std::vector<Operation>& menu, std::size_t most,
                                          std::uint32_t owners, std::uint64_t seed, const oracle::Decider& decider,
                                          std::uint64_t share = 1, std::size_t acquires = 1) {
  Rng rng(seed);
  std::uint64_t violations = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / share; ++i) {
    const History history = random_history(promise, menu, 2 + rng.below(most - 1), owners, rng, acquires);
    if (!agree(promise, history, decider)) break;
    violations += oracle::possible(promise, history) ? 0U : 1U;
  }
  return violations;
}

// Runs the real object, then swaps neighbouring events.
inline std::uint64_t try_simulated_histories(const Promise& promise, const oracle::Simulation& simulation,
                                             std::uint64_t seed, const oracle::Decider& decider,
                                             std::uint64_t share = 1) {
  Rng rng(seed);
  std::uint64_t violations = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / share; ++i) {
    oracle::Simulation one = simulation;
    one.swaps = rng.below(6);
    const History history = oracle::simulate(promise, one, rng);
    if (!agree(promise, history, decider)) break;
    violations += oracle::possible(promise, history) ? 0U : 1U;
  }
  return violations;
}

// What must not depend on how a history is written down, and what must follow from what is decided.
inline void try_changes(const Promise& promise, const std::vector<Operation>& menu, std::uint64_t seed,
                        const oracle::Decider& decider, std::size_t acquires = 1) {
  Rng rng(seed);
  const auto answer = [&](const History& history) { return decider(promise, history, {}).answer; };
  for (int round = 0; round < 5'000; ++round) {
    const History history = random_history(promise, menu, 6, 4, rng, acquires);
    const Answer before = answer(history);
    History shifted = history;
    for (Operation& each : shifted) {
      each.call = each.call * 3 - 1000;
      if (each.ret != kNever) each.ret = each.ret * 3 - 1000;
    }
    ASSERT_EQ(answer(shifted), before) << oracle::print(promise, history);
    History renamed = history;
    for (Operation& each : renamed) {
      each.process = 7'000'000 - each.process;
      each.hold = 4'000'000'000U - each.hold * 5;
    }
    ASSERT_EQ(answer(renamed), before) << oracle::print(promise, history);
    if (before == Answer::linearizable && promise.identity == Identity::hold) {
      History weaker = history;
      Operation& one = weaker[rng.below(weaker.size())];
      if (one.ok()) {
        one.outcome = Outcome::unknown;
        one.ret = kNever;
        one.result = kNothing;
      }
      ASSERT_EQ(answer(weaker), before) << oracle::print(promise, weaker);
    }
  }
}

}  // namespace holdfast::objects::testing
