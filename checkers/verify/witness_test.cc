#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "checkers/verify/sequential.h"
#include "checkers/verify/small_histories.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {
namespace {

using objects::Answer;
using objects::Decision;
using oracle::History;
using oracle::print;

std::string listed(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) text += ' ' + std::to_string(number);
  return text;
}

// The definition, pair by pair: slow and obvious.
bool is_witness(const Promise& promise, const History& history, const std::vector<std::uint32_t>& witness) {
  for (std::uint32_t i = 0; i < history.size(); ++i) {
    const auto times = std::ranges::count(witness, i);
    if (times > 1 || (times == 0 && !history[i].unknown())) return false;
  }
  Machine machine = initial_machine(promise);
  for (std::size_t later = 0; later < witness.size(); ++later) {
    if (witness[later] >= history.size()) return false;
    const Operation& second = history[witness[later]];
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const Operation& first = history[witness[earlier]];
      if (second.ret < first.call) return false;
      const bool placed = has_ordered_sessions(promise) || (!first.unknown() && !second.unknown());
      if (placed && first.process == second.process && witness[earlier] > witness[later]) return false;
    }
    if (!apply(machine, promise, second)) return false;
  }
  return true;
}

void corrupt(std::vector<std::uint32_t>& witness, std::size_t operations, Rng& rng) {
  const std::size_t at = witness.empty() ? 0 : rng.below(witness.size());
  switch (witness.empty() ? 4 : rng.below(6)) {
    case 0:
      std::swap(witness[at], witness[rng.below(witness.size())]);
      break;
    case 1:
      witness.erase(witness.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 2:
      witness.insert(witness.begin() + static_cast<std::ptrdiff_t>(rng.below(witness.size())), witness[at]);
      break;
    case 3:
      witness[at] = static_cast<std::uint32_t>(rng.below(operations));
      break;
    case 4:
      witness.push_back(static_cast<std::uint32_t>(operations + rng.below(3)));
      break;
    default:
      std::rotate(witness.begin(), witness.begin() + 1, witness.end());
  }
}

TEST(Witness, TrueOnesAreAcceptedAndCorruptedOnesRefused) {
  Rng rng(11);
  std::map<std::string, int> accepted;
  int refused = 0;
  const std::uint64_t rounds = oracle::random_cases() / 500;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const Habit& habit : habits()) {
      const History history = random_history(habit, 4 + rng.below(9), rng);
      Decision decision = certified(habit.promise, history, rng);
      if (decision.answer != Answer::linearizable) continue;
      ++accepted[habit.name];
      ASSERT_EQ(refute(habit.promise, history, decision), std::nullopt) << print(habit.promise, history);
      corrupt(decision.witness, history.size(), rng);
      const bool still = is_witness(habit.promise, history, decision.witness);
      if (!still) ++refused;
      ASSERT_EQ(refute(habit.promise, history, decision).has_value(), !still)
          << "witness:" << listed(decision.witness) << '\n'
          << print(habit.promise, history);
    }
  }
  for (const Habit& habit : habits()) EXPECT_GT(accepted[habit.name], 0) << habit.name;
  EXPECT_GT(refused, 1'000);
}

// A decision that says the opposite of the truth has nothing that would prove it.
TEST(Witness, TheOtherAnswerIsRefused) {
  Rng rng(13);
  int refused = 0;
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (const Habit& habit : habits()) {
      const History history = random_history(habit, 4 + rng.below(9), rng);
      Decision decision = certified(habit.promise, history, rng);
      if (history.empty()) continue;
      const bool linearizable = decision.answer == Answer::linearizable;
      decision.answer = linearizable ? Answer::violation : Answer::linearizable;
      std::swap(decision.witness, decision.core);
      std::ranges::sort(decision.core);
      ASSERT_NE(refute(habit.promise, history, decision), std::nullopt) << print(habit.promise, history);
      ++refused;
    }
  }
  EXPECT_GT(refused, 1'000);
}

TEST(Witness, AnUndecidedDecisionClaimsNothing) {
  EXPECT_EQ(refute({}, {}, {.answer = Answer::undecided}), std::nullopt);
}

}  // namespace
}  // namespace holdfast::verify
