// Histories for the tests of data deciders: all small ones over a menu of operations, and random ones. For tests only.
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

inline Operation ok(Call f, std::int64_t argument, std::int64_t result = kNothing) {
  return {.argument = argument, .result = result, .f = f};
}
inline Operation unknown(Call f, std::int64_t argument, std::int64_t result = kNothing) {
  return {.argument = argument, .result = result, .f = f, .outcome = Outcome::unknown};
}
inline Operation refused(Call f, std::int64_t argument, std::int64_t result = kNothing) {
  return {.argument = argument, .result = result, .f = f, .outcome = Outcome::refused};
}
// The same at a time.
inline Operation at(Instant call, Instant ret, Operation operation, std::uint32_t process = kNone) {
  operation.call = call;
  operation.ret = operation.unknown() ? kNever : ret;
  operation.process = process == kNone ? static_cast<std::uint32_t>(call) : process;
  return operation;
}

// False (and a failed test) when the decider is wrong about the history.
inline bool agree(const Promise& promise, const History& history, const oracle::Decider& decider) {
  const auto fault = oracle::disagreement(promise, history, decider);
  if (fault) ADD_FAILURE() << *fault;
  return !fault;
}

// All histories of `count` operations of the menu that `suits`, each operation by a process of its own, in all
// arrangements in time. Stops at the first disagreement. Answers how many there were.
inline std::size_t try_every_history(const Promise& promise, const std::vector<Operation>& menu, std::size_t count,
                                     const std::function<bool(const History&)>& suits, const oracle::Decider& decider) {
  std::size_t tried = 0;
  bool good = true;
  History history;
  const std::function<void()> choose = [&] {
    if (!good || !suits(history)) return;
    if (history.size() < count) {
      for (const Operation& operation : menu) {
        history.push_back(operation);
        history.back().process = static_cast<std::uint32_t>(history.size());
        choose();
        history.pop_back();
      }
      return;
    }
    std::vector<bool> unknown_ones;
    for (const Operation& each : history) unknown_ones.push_back(each.unknown());
    oracle::for_each_arrangement(unknown_ones, [&](const std::vector<Instant>& call, const std::vector<Instant>& ret) {
      if (!good) return;
      for (std::size_t i = 0; i < history.size(); ++i) {
        history[i].call = call[i];
        history[i].ret = ret[i];
      }
      ++tried;
      good = agree(promise, history, decider);
    });
  };
  choose();
  return tried;
}

// Operations of the menu at random times; some of them share a process, where they follow one another. With `ties` many
// things happen at the same instant.
inline History random_history(const std::vector<Operation>& menu, std::size_t count, bool ties, Rng& rng) {
  History history;
  const std::uint64_t span = ties ? count + 1 : 64 * count;
  for (std::size_t i = 0; i < count; ++i) {
    Operation operation = menu[rng.below(menu.size())];
    operation.call = static_cast<Instant>(rng.below(span));
    if (!operation.unknown()) {
      const std::uint64_t length = ties ? rng.below(4) : 1 + rng.below(rng.chance(0.5) ? 64 : span);
      operation.ret = operation.call + static_cast<Instant>(length);
    }
    history.push_back(operation);
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  if (!ties) {  // an instant for each event
    std::vector<Instant*> events;
    for (Operation& each : history) {
      events.push_back(&each.call);
      if (each.ret != kNever) events.push_back(&each.ret);
    }
    std::ranges::stable_sort(events, {}, [](const Instant* event) { return *event; });
    for (std::size_t i = 0; i < events.size(); ++i) *events[i] = static_cast<Instant>(i);
  }
  std::map<std::uint32_t, Instant> free;  // process -> when it is free again
  for (Operation& each : history) {
    each.process = static_cast<std::uint32_t>(free.size());
    for (const auto& [process, when] : free) {
      if (when <= each.call && rng.chance(0.5)) {
        each.process = process;
        break;
      }
    }
    free[each.process] = each.ret;
  }
  return history;
}

}  // namespace holdfast::objects::testing
