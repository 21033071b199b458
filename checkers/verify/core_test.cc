#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "checkers/verify/small_histories.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {
namespace {

using objects::Answer;
using objects::Call;
using objects::Decision;
using objects::Instant;
using objects::Kind;
using objects::kNothing;
using objects::kRead;
using objects::kWrite;
using objects::Operation;
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

void corrupt(std::vector<std::uint32_t>& core, std::size_t operations, Rng& rng) {
  const std::size_t at = rng.below(core.size());
  const auto any = static_cast<std::uint32_t>(rng.below(operations));
  switch (rng.below(6)) {
    case 0:
      core.erase(core.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      core[at] = any;
      break;
    case 2:
      core.push_back(any);
      break;
    case 3:
      core.clear();
      return;
    case 4:
      core[at] = static_cast<std::uint32_t>(operations + rng.below(5));
      return;
    default:
      core.insert(core.begin() + static_cast<std::ptrdiff_t>(at), core[at]);
      return;
  }
  if (rng.chance(0.9)) std::ranges::sort(core);
}

// Decision.h in so many words.
bool is_core(const objects::Promise& promise, const History& history, const std::vector<std::uint32_t>& core) {
  for (std::size_t i = 0; i < core.size(); ++i) {
    if (core[i] >= history.size() || history[core[i]].unknown() || (i > 0 && core[i] <= core[i - 1])) return false;
  }
  return !core.empty() && fault_of_core(promise, history, core) == CoreFault::none;
}

TEST(Core, TrueOnesAreAcceptedAndCorruptedOnesRefused) {
  Rng rng(2);
  std::map<std::string, int> accepted;
  int refused = 0;
  const std::uint64_t rounds = oracle::random_cases() / 500;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const Habit& habit : habits()) {
      const History history = random_history(habit, 4 + rng.below(9), rng);
      Decision decision = certified(habit.promise, history, rng);
      if (decision.answer != Answer::violation || decision.core.size() > 8) continue;
      ++accepted[habit.name];
      ASSERT_EQ(refute(habit.promise, history, decision), std::nullopt) << "core:" << listed(decision.core) << '\n'
                                                                        << print(habit.promise, history);
      corrupt(decision.core, history.size(), rng);
      const bool still = is_core(habit.promise, history, decision.core);
      if (!still) ++refused;
      ASSERT_EQ(refute(habit.promise, history, decision).has_value(), !still)
          << "core:" << listed(decision.core) << '\n'
          << print(habit.promise, history);
    }
  }
  for (const Habit& habit : habits()) EXPECT_GT(accepted[habit.name], 0) << habit.name;
  EXPECT_GT(refused, 1'000);
}

// One small violation of each kind, its core, and the correct twin: the last operation is called later or sees what is
// right.
struct Example {
  objects::Promise promise;
  History history;
  std::vector<std::uint32_t> core;
  std::function<void(History&)> mend;
};

Operation did(std::uint32_t process, Instant call, Instant ret, Call f, std::int64_t argument = kNothing,
              std::int64_t result = kNothing) {
  return {
      .call = call, .ret = ret, .argument = argument, .result = result, .process = process, .hold = process, .f = f};
}

std::vector<Example> examples() {
  std::vector<Example> list;
  const auto see = [](std::int64_t value) { return [value](History& history) { history.back().result = value; }; };
  list.push_back({{.kind = Kind::register_},
                  {did(0, 0, 1, Call::write, 1), did(0, 2, 3, Call::write, 2), did(1, 4, 5, Call::read, kNothing, 1)},
                  {0, 1, 2},
                  see(2)});
  list.push_back(
      {{.kind = Kind::counter}, {did(0, 0, 1, Call::increment), did(1, 2, 3, Call::read, kNothing, 2)}, {1}, see(1)});
  list.push_back(
      {{.kind = Kind::set}, {did(0, 0, 1, Call::add, 5), did(1, 2, 3, Call::contains, 5, 0)}, {0, 1}, see(1)});
  list.push_back(
      {{.kind = Kind::queue},
       {did(0, 0, 1, Call::insert, 1), did(0, 2, 3, Call::insert, 2), did(1, 4, 5, Call::extract, kNothing, 2)},
       {0, 2},
       see(1)});
  list.push_back(
      {{.kind = Kind::stack},
       {did(0, 0, 1, Call::insert, 1), did(0, 2, 3, Call::insert, 2), did(1, 4, 5, Call::extract, kNothing, 1)},
       {0, 1, 2},
       see(2)});
  list.push_back(
      {{.kind = Kind::priority_queue},
       {did(0, 0, 1, Call::insert, 1), did(0, 2, 3, Call::insert, 2), did(1, 4, 5, Call::extract, kNothing, 2)},
       {0, 2},
       see(1)});
  list.push_back({{.kind = Kind::multi_register, .sets = {{kWrite, 7, 1}, {kRead, 7, kNothing}, {kRead, 7, 1}}},
                  {did(0, 0, 1, Call::transact, 0, 0), did(1, 2, 3, Call::transact, 1, 1)},
                  {0, 1},
                  see(2)});
  list.push_back({{.kind = Kind::append_map, .texts = {"a", "b", "ab", "ba"}},
                  {did(0, 0, 1, Call::append, 0), did(0, 2, 3, Call::append, 1), did(1, 4, 5, Call::read, kNothing, 3)},
                  {0, 2},
                  see(2)});
  return list;
}

// Two holds at a time, of every lock that has no room for both.
std::vector<Example> lock_examples() {
  std::vector<Example> list;
  const auto wait = [](History& history) {
    history.back().call = 10;
    history.back().ret = 11;
  };
  std::vector<objects::Promise> promises = {{.kind = Kind::mutex},
                                            {.kind = Kind::anonymous_mutex},
                                            {.kind = Kind::rw_lock},
                                            {.kind = Kind::semaphore},
                                            {.kind = Kind::lease_mutex, .lease_least = 100},
                                            {.kind = Kind::multi_lock, .sets = {{1, 2}, {2, 3}}}};
  for (objects::Promise& promise : promises) {
    promise.identity = objects::Identity::hold;
    const bool multi = promise.kind == Kind::multi_lock;
    const std::int64_t first = promise.kind == Kind::rw_lock ? objects::kWrite : multi ? 0 : kNothing;
    const std::int64_t second = promise.kind == Kind::rw_lock ? objects::kRead : multi ? 1 : kNothing;
    list.push_back(
        {promise,
         {did(0, 0, 1, Call::acquire, first), did(1, 2, 3, Call::acquire, second), did(0, 4, 5, Call::release)},
         {0, 1},
         [wait](History& history) {
           std::swap(history[1], history[2]);
           wait(history);
         }});
  }
  list.push_back({{.kind = Kind::fenced_mutex, .identity = objects::Identity::hold},
                  {did(0, 0, 1, Call::acquire, kNothing, 8), did(0, 2, 3, Call::release),
                   did(1, 4, 5, Call::acquire, kNothing, 7)},
                  {0, 2},
                  [](History& history) { history.back().result = 9; }});
  list.push_back({{.kind = Kind::fair_mutex, .identity = objects::Identity::hold},
                  {did(0, 0, 1, Call::ticket), did(1, 2, 3, Call::ticket), did(1, 4, 5, Call::acquire),
                   did(0, 6, 7, Call::acquire)},
                  {0, 2},
                  [](History& history) {
                    std::swap(history[2].process, history[3].process), std::swap(history[2].hold, history[3].hold),
                        history.pop_back();
                  }});
  return list;
}

TEST(Core, OneOfEveryKindIsAcceptedAndNoneOfItsTwin) {
  std::vector<Example> all = examples();
  std::ranges::move(lock_examples(), std::back_inserter(all));
  for (Example& example : all) {
    EXPECT_EQ(refute_core(example.promise, example.history, violation(example.core)), std::nullopt)
        << print(example.promise, example.history);
    example.mend(example.history);
    const auto fault = refute_core(example.promise, example.history, violation(example.core));
    ASSERT_TRUE(fault) << print(example.promise, example.history);
    EXPECT_TRUE(fault->starts_with("the core can be met")) << *fault << print(example.promise, example.history);
  }
}

}  // namespace
}  // namespace holdfast::verify
