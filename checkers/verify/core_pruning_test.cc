// A few operations that contradict each other, far apart in a history of a million: of the others next to none may be
// left for the search, and the verdict is the same as in a small history.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "checkers/verify/core_problem.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {
namespace {

using objects::Call;
using objects::Decision;
using objects::kNothing;
using History = std::vector<Operation>;

constexpr std::int64_t kMany = 1'000'000;
constexpr std::int64_t kSome = 100'000;  // where there are many cases
constexpr std::uint32_t kProcesses = 5;

// Operations of five processes in turn, each overlapping its two neighbours.
class Turns {
 public:
  std::uint32_t add(Call f, std::int64_t argument = kNothing, std::int64_t result = kNothing) {
    const auto number = static_cast<std::uint32_t>(history.size());
    const Instant call = 10 * static_cast<Instant>(number);
    history.push_back({.call = call,
                       .ret = call + 25,
                       .argument = argument,
                       .result = result,
                       .process = number % kProcesses,
                       .hold = number,
                       .f = f});
    return number;
  }
  // Everything so far has returned when the next one is called.
  void pause() {
    const Instant now = history.back().call + 1;
    for (std::size_t i = history.size(); i-- > 0 && i + 3 > history.size();) {
      history[i].ret = std::min(history[i].ret, now);
    }
  }

  History history;
};

// Holds one after the other, by the processes in turn.
class Holds {
 public:
  std::uint32_t add(Call f, std::uint32_t process, std::int64_t argument = kNothing, std::int64_t result = kNothing) {
    history.push_back({.call = now_,
                       .ret = now_ + 5,
                       .argument = argument,
                       .result = result,
                       .process = process,
                       .hold = static_cast<std::uint32_t>(history.size() / 2),
                       .f = f});
    now_ += 10;
    return static_cast<std::uint32_t>(history.size() - 1);
  }
  void pairs(std::int64_t operations, std::int64_t argument = kNothing, bool tokens = false) {
    while (static_cast<std::int64_t>(history.size()) < operations) {
      const auto hold = static_cast<std::int64_t>(history.size() / 2);
      const auto process = static_cast<std::uint32_t>(hold) % kProcesses;
      add(Call::acquire, process, argument, tokens ? hold + 1 : kNothing);
      add(Call::release, process, argument == kNothing ? kNothing : argument);
    }
  }
  History history;

 private:
  Instant now_ = 0;
};

std::size_t kept(const Promise& promise, const History& history, const std::vector<std::uint32_t>& core) {
  const Weakened weakened(promise, history, core);
  const Problem problem = is_lock(promise.kind) ? arrange_lock(weakened) : arrange_data(weakened);
  return std::accumulate(problem.lines.begin(), problem.lines.end(), std::size_t{0},
                         [](std::size_t sum, const Line& line) { return sum + line.steps.size(); });
}

void expect_core(const Promise& promise, const History& history, const std::vector<std::uint32_t>& core,
                 std::size_t most) {
  EXPECT_LE(kept(promise, history, core), most);
  const Decision decision{.answer = objects::Answer::violation, .core = core};
  EXPECT_EQ(refute_core(promise, history, decision), std::nullopt);
}

TEST(CorePruning, StaleReadOfARegister) {
  Turns turns;
  while (turns.history.size() < kMany) turns.add(Call::write, static_cast<std::int64_t>(turns.history.size()));
  const std::uint32_t read = turns.add(Call::read, kNothing, 10);
  expect_core({.kind = Kind::register_}, turns.history, {10, 20, read}, 3);
}

// Every value comes from the one before: half a million cas lead to one read, and are one step.
TEST(CorePruning, StaleReadAfterALongChainOfCas) {
  Turns turns;
  for (std::int64_t value = 0; value < kMany / 2; ++value) turns.add(Call::cas, value, value + 1);
  turns.pause();
  const std::uint32_t new_read = turns.add(Call::read, kNothing, kMany / 2);
  turns.pause();
  for (std::int64_t value = kMany / 2; value < kMany; ++value) turns.add(Call::cas, value, value + 1);
  const std::uint32_t old_read = turns.add(Call::read, kNothing, 10);
  expect_core({.kind = Kind::register_, .initial = 0}, turns.history, {new_read, old_read}, 4);
}

TEST(CorePruning, ARegisterOfFewValues) {
  Turns turns;
  while (turns.history.size() < kMany) {
    const auto number = static_cast<std::int64_t>(turns.history.size());
    turns.add(Call::cas, number % 7, (number + 1) % 7);
  }
  const std::uint32_t read = turns.add(Call::read, kNothing, 7);
  expect_core({.kind = Kind::register_, .initial = 0}, turns.history, {read}, 1);
}

TEST(CorePruning, CountersNeedNoSearch) {
  Turns turns;
  while (turns.history.size() < kMany) turns.add(Call::increment);
  turns.pause();
  turns.add(Call::read, kNothing, kMany + 1);
  const auto read = static_cast<std::uint32_t>(kMany);
  const Promise promise{.kind = Kind::counter};
  EXPECT_EQ(refute_core(promise, turns.history, {.answer = objects::Answer::violation, .core = {read}}), std::nullopt);
  // Too low a count: it takes all the increments that it does not know of, and one more.
  turns.history.back().result = kMany / 2;
  std::vector<std::uint32_t> core(kMany / 2 + 1);
  std::iota(core.begin(), core.end(), 0U);
  core.push_back(read);
  EXPECT_EQ(refute_core(promise, turns.history, {.answer = objects::Answer::violation, .core = core}), std::nullopt);
  core.erase(core.begin());
  EXPECT_NE(refute_core(promise, turns.history, {.answer = objects::Answer::violation, .core = core}), std::nullopt);
}

TEST(CorePruning, ASetLosesAnElement) {
  Turns turns;
  while (turns.history.size() < kMany) turns.add(Call::add, static_cast<std::int64_t>(turns.history.size()));
  const std::uint32_t read = turns.add(Call::contains, 7, 0);
  expect_core({.kind = Kind::set}, turns.history, {7, read}, 2);
}

TEST(CorePruning, ASetLosesAnElementOfManyThatAreRead) {
  Turns turns;
  while (turns.history.size() < kSome) turns.add(Call::add, static_cast<std::int64_t>(turns.history.size()));
  const std::uint32_t read = turns.add(Call::read, kNothing, 0);
  Promise promise{.kind = Kind::set, .sets = {{}}};
  for (std::int64_t element = 0; element < kSome; ++element) {
    if (element != 7) promise.sets[0].push_back(element);
  }
  expect_core(promise, turns.history, {7, read}, 3);
}

TEST(CorePruning, QueueStackAndHeapOutOfOrder) {
  Turns turns;
  while (turns.history.size() < kMany) {
    const auto value = static_cast<std::int64_t>(turns.history.size()) + 10;
    turns.add(Call::insert, value);
    turns.pause();
    turns.add(Call::extract, kNothing, value);
    turns.pause();
  }
  std::vector<std::uint32_t> last;
  for (const std::int64_t value : {1, 2}) {
    last.push_back(turns.add(Call::insert, value));
    turns.pause();
  }
  last.push_back(turns.add(Call::extract, kNothing, 2));
  turns.pause();
  last.push_back(turns.add(Call::extract, kNothing, 1));
  expect_core({.kind = Kind::queue}, turns.history, {last[0], last[2], last[3]}, 6);
  expect_core({.kind = Kind::priority_queue}, turns.history, {last[0], last[2], last[3]}, 6);
  std::swap(turns.history[last[2]].result, turns.history[last[3]].result);
  expect_core({.kind = Kind::stack}, turns.history, last, 8);
}

TEST(CorePruning, TwoHoldersOfALock) {
  for (const Kind kind : {Kind::mutex, Kind::rw_lock, Kind::semaphore, Kind::multi_lock, Kind::fenced_mutex}) {
    for (const Identity identity : {Identity::crash, Identity::hold, Identity::session, Identity::reuse}) {
      Promise promise{.kind = kind, .identity = identity, .sets = {{1, 2}}};
      const bool tokens = kind == Kind::fenced_mutex;
      const std::int64_t argument = kind == Kind::rw_lock || kind == Kind::multi_lock ? 0 : kNothing;
      Holds holds;
      holds.pairs(kSome, argument, tokens);
      const std::uint32_t first = holds.add(Call::acquire, 7, argument, tokens ? kSome : kNothing);
      holds.history.back().hold = 10'000'001;
      const std::uint32_t second = holds.add(Call::acquire, 8, argument, tokens ? kSome + 1 : kNothing);
      holds.history.back().hold = 10'000'002;
      holds.add(Call::release, 7);
      holds.history.back().hold = 10'000'001;
      holds.pairs(kSome + 100, argument, tokens);
      expect_core(promise, holds.history, {first, second}, 10);
    }
  }
}

// The same, by two who have held it ten thousand times before and after.
TEST(CorePruning, TwoHoldersOfALockAmongTheirOtherHolds) {
  for (const Kind kind : {Kind::mutex, Kind::rw_lock, Kind::semaphore, Kind::multi_lock}) {
    for (const Identity identity : {Identity::crash, Identity::hold, Identity::session}) {
      Promise promise{.kind = kind, .identity = identity, .sets = {{1, 2}}};
      const std::int64_t argument = kind == Kind::rw_lock || kind == Kind::multi_lock ? 0 : kNothing;
      Holds holds;
      holds.pairs(kSome / 2, argument);
      const std::uint32_t first = holds.add(Call::acquire, 0, argument);
      holds.history.back().hold = 10'000'001;
      const std::uint32_t second = holds.add(Call::acquire, 1, argument);
      holds.history.back().hold = 10'000'002;
      holds.add(Call::release, 0);
      holds.history.back().hold = 10'000'001;
      holds.add(Call::release, 1);
      holds.history.back().hold = 10'000'002;
      holds.pairs(kSome, argument);
      expect_core(promise, holds.history, {first, second}, 60);
    }
  }
}

TEST(CorePruning, MoreHoldersThanPermits) {
  Promise promise{.kind = Kind::semaphore, .identity = Identity::crash, .permits = 100};
  Holds holds;
  holds.pairs(kMany);
  std::vector<std::uint32_t> core;
  for (std::uint32_t process = 100; process <= 200; ++process) core.push_back(holds.add(Call::acquire, process));
  const Decision decision{.answer = objects::Answer::violation, .core = core};
  EXPECT_EQ(refute_core(promise, holds.history, decision), std::nullopt);
  promise.permits = 101;
  EXPECT_NE(refute_core(promise, holds.history, decision), std::nullopt);
}

TEST(CorePruning, NobodyKnowsWhoHoldsTheLock) {
  const Promise promise{.kind = Kind::anonymous_mutex};
  Holds holds;
  holds.pairs(kMany);
  holds.add(Call::acquire, 7);
  holds.add(Call::acquire, 8);
  Decision decision{.answer = objects::Answer::violation};
  for (std::uint32_t i = 0; i < holds.history.size(); ++i) {
    if (holds.history[i].f == Call::acquire) decision.core.push_back(i);
  }
  EXPECT_EQ(refute_core(promise, holds.history, decision), std::nullopt);
  decision.core.erase(decision.core.begin());
  EXPECT_NE(refute_core(promise, holds.history, decision), std::nullopt);
}

TEST(CorePruning, TokensGoBack) {
  for (const objects::FenceRule fence : {objects::FenceRule::increasing, objects::FenceRule::by_one}) {
    Holds holds;
    holds.pairs(kMany, kNothing, true);
    const std::uint32_t later = holds.add(Call::acquire, 7, kNothing, 5);
    const Promise promise{.kind = Kind::fenced_mutex, .identity = Identity::crash, .fence = fence};
    // Where no token may be left out, those who could fill the gap up to 101 are left.
    expect_core(promise, holds.history, {200, later}, fence == objects::FenceRule::by_one ? 700 : 40);
  }
}

TEST(CorePruning, SomebodyOvertakesAtAFairLock) {
  Holds holds;
  holds.pairs(kMany);
  for (Operation& operation : holds.history) {
    if (operation.f == Call::acquire) operation.f = Call::ticket;  // nobody of these is ever granted it
  }
  const std::uint32_t first = holds.add(Call::ticket, 7);
  holds.add(Call::ticket, 8);
  const std::uint32_t grant = holds.add(Call::acquire, 8);
  holds.add(Call::acquire, 7);
  expect_core({.kind = Kind::fair_mutex, .identity = Identity::crash}, holds.history, {first, grant}, 4);
}

TEST(CorePruning, TwoHoldersOfALeaseMutex) {
  const Promise promise{
      .kind = Kind::lease_mutex, .identity = Identity::hold, .lease_least = 1'000, .lease_greatest = 2'000};
  Holds holds;
  holds.pairs(kMany);
  const std::uint32_t first = holds.add(Call::acquire, 7);
  holds.history.back().hold = 10'000'001;
  const std::uint32_t second = holds.add(Call::acquire, 8);
  holds.history.back().hold = 10'000'002;
  holds.pairs(kMany + 100);
  Decision decision{.answer = objects::Answer::violation, .core = {first, second}};
  EXPECT_EQ(refute_core(promise, holds.history, decision), std::nullopt);
  // With a lease that is over by then it is right.
  Promise shorter = promise;
  shorter.lease_least = 5;
  EXPECT_NE(refute_core(shorter, holds.history, decision), std::nullopt);
}

}  // namespace
}  // namespace holdfast::verify
