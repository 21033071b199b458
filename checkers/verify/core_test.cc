#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkers/verify/small_histories.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {
namespace {

using objects::Answer;
using objects::Decision;
using oracle::History;
using oracle::print;

Decision violation(std::vector<std::uint32_t> core) {
  return {.answer = Answer::violation, .core = std::move(core)};
}

// What refute_core() says of a core, in the words of decision.h.
CoreFault found_fault(const objects::Promise& promise, const History& history, const std::vector<std::uint32_t>& core) {
  const std::optional<std::string> fault = refute_core(promise, history, violation(core));
  if (!fault) return CoreFault::none;
  EXPECT_FALSE(fault->starts_with("cannot be verified")) << *fault << '\n' << print(promise, history);
  return fault->starts_with("the core can be met") ? CoreFault::possible : CoreFault::not_minimal;
}

std::string listed(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) text += ' ' + std::to_string(number);
  return text;
}

// Some operations of a history, claimed to be its core: anything at all, or a true core with a few changes.
std::vector<std::uint32_t> claim(const Habit& habit, const History& history, Rng& rng) {
  std::vector<std::uint32_t> known;
  for (std::uint32_t i = 0; i < history.size(); ++i) {
    if (!history[i].unknown()) known.push_back(i);
  }
  if (known.empty()) return {};
  const Decision decision = certified(habit.promise, history, rng);
  std::set<std::uint32_t> core(decision.core.begin(), decision.core.end());
  std::uint64_t changes = rng.below(3);
  if (core.empty()) {
    if (rng.chance(0.8)) return {};
    changes = 1 + rng.below(8);
  }
  for (; changes > 0; --changes) {
    const std::uint32_t any = known[rng.below(known.size())];
    if (core.erase(any) == 0) core.insert(any);
  }
  return core.size() > 8 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>(core.begin(), core.end());
}

// The answer must be that of trying every order, whatever is claimed.
TEST(Core, SaysOfAnyClaimWhatTryingEveryOrderSays) {
  Rng rng(1);
  std::map<CoreFault, std::uint64_t> counts;
  const std::uint64_t rounds = oracle::random_cases() / 200;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const Habit& habit : habits()) {
      const History history = random_history(habit, 4 + rng.below(9), rng);
      const std::vector<std::uint32_t> core = claim(habit, history, rng);
      if (core.empty()) continue;
      const CoreFault truth = fault_of_core(habit.promise, history, core);
      ++counts[truth];
      ASSERT_EQ(found_fault(habit.promise, history, core), truth) << habit.name << "\ncore:" << listed(core) << '\n'
                                                                  << print(habit.promise, history);
    }
  }
  EXPECT_GT(counts[CoreFault::none], rounds);
  EXPECT_GT(counts[CoreFault::possible], rounds);
  EXPECT_GT(counts[CoreFault::not_minimal], rounds);
}

}  // namespace
}  // namespace holdfast::verify
