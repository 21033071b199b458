#include "checkers/objects/semaphore_sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "checkers/objects/lock_histories.h"
#include "checkers/verify/verify.h"

namespace holdfast::objects {
namespace {

using oracle::History;
using testing::for_each_lock_history;
using testing::Mix;
using testing::random_lock_history;
using testing::Shape;
using testing::simulated_lock_history;

Promise semaphore(Identity identity, std::uint32_t permits) {
  Promise promise;
  promise.kind = Kind::semaphore;
  promise.identity = identity;
  promise.permits = permits;
  return promise;
}

Operation acquire(std::uint32_t process, Instant call, Instant ret) {
  return {.call = call, .ret = ret, .process = process, .f = Call::acquire};
}
Operation release(std::uint32_t process, Instant call, Instant ret) {
  return {.call = call, .ret = ret, .process = process, .f = Call::release};
}

struct Tally {
  std::uint64_t histories = 0;
  std::uint64_t violations = 0;
  bool agrees(const Promise& promise, const History& history) {
    ++histories;
    if (!oracle::possible(promise, history)) ++violations;
    const auto wrong = oracle::disagreement(promise, history, decide_semaphore_sessions);
    if (wrong) ADD_FAILURE() << promise.permits << " permits: " << *wrong;
    return !wrong;
  }
};

void all_small(const Promise& promise, const Shape& shape) {
  Tally tally;
  bool fine = true;
  for_each_lock_history(promise, shape, [&](const History& history) {
    if (fine) fine = tally.agrees(promise, history);
  });
  EXPECT_GT(tally.histories, 0U);
}

void all_small_histories(Identity identity, std::uint32_t permits) {
  for (std::size_t operations = 1; operations <= oracle::all_up_to(4); ++operations) {
    all_small(semaphore(identity, permits),
              {.operations = operations, .refused_releases = true, .refused_acquires = true});
  }
  all_small(semaphore(identity, permits), {.operations = 5});
}

TEST(SemaphoreSessions, AgreesOnAllSmallHistoriesOfOnePermit) {
  all_small_histories(Identity::session, 1);
}
TEST(SemaphoreSessions, AgreesOnAllSmallHistoriesOfTwoPermits) {
  all_small_histories(Identity::session, 2);
}
TEST(SemaphoreSessions, AgreesOnAllSmallHistoriesOfProcessesThatRetire) {
  all_small_histories(Identity::crash, 2);
}

void random_ones(Identity identity, double refusals) {
  Rng rng(static_cast<std::uint64_t>(identity) + (refusals > 0 ? 31 : 41));
  Tally tally;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const Promise promise = semaphore(identity, 1 + static_cast<std::uint32_t>(rng.below(3)));
    const Mix mix{.operations = 3 + rng.below(8),
                  .processes = 1 + static_cast<std::uint32_t>(rng.below(4)),
                  .unknown = rng.unit() * 0.6,
                  .refused_release = refusals,
                  .refused_acquire = refusals,
                  .ties = rng.chance(0.3)};
    const History history =
        i % 3 == 0 ? random_lock_history(promise, mix, rng) : simulated_lock_history(promise, mix, rng.below(6), rng);
    if (!tally.agrees(promise, history)) return;
  }
  EXPECT_GT(tally.violations, tally.histories / 100);
  EXPECT_LT(tally.violations, tally.histories);
}

TEST(SemaphoreSessions, AgreesOnRandomHistories) {
  random_ones(Identity::session, 0);
}
TEST(SemaphoreSessions, AgreesOnRandomHistoriesOfProcessesThatRetire) {
  random_ones(Identity::crash, 0);
}
TEST(SemaphoreSessions, AgreesOnRandomHistoriesWithRefusals) {
  random_ones(Identity::session, 0.15);
}

TEST(SemaphoreSessions, NamesTheCoreOfAPlantedViolationAndNotOfItsTwin) {
  const Promise promise = semaphore(Identity::session, 2);
  const History broken = {acquire(0, 0, 1), acquire(1, 2, 3), acquire(2, 4, 5),
                          release(0, 6, 7), release(1, 8, 9), release(2, 10, 11)};
  const Decision decision = decide_semaphore_sessions(promise, broken, {});
  EXPECT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "too-many-permits");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1, 2}));
  History correct = broken;
  correct[2].ret = 7;
  EXPECT_EQ(decide_semaphore_sessions(promise, correct, {}).answer, Answer::linearizable);
  EXPECT_FALSE(oracle::disagreement(promise, correct, decide_semaphore_sessions));
}

// Two lost acquires in a row may have to come early: the greedy schedule says no, the search knows better.
TEST(SemaphoreSessions, AsksTheSearchBeyondItsClass) {
  const Promise promise = semaphore(Identity::session, 2);
  History history = {acquire(0, 0, kNever), acquire(0, 1, kNever), release(0, 2, 6), acquire(1, 3, 5),
                     release(0, 7, 8)};
  history[0].outcome = history[1].outcome = Outcome::unknown;
  const Decision decision = decide_semaphore_sessions(promise, history, {});
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_EQ(decision.searched, history.size());
  EXPECT_FALSE(verify::refute(promise, history, decision));
}

Answer answer_of(const Promise& promise, const History& history) {
  return decide_semaphore_sessions(promise, history, {}).answer;
}

// Both rises end at instant 7; only the one that falls again at that very instant makes room for the other.
TEST(SemaphoreSessions, ACoarseClockLeavesTheOrderOpen) {
  const Promise promise = semaphore(Identity::session, 2);
  History correct = {acquire(0, 2, kNever), acquire(1, 5, 7), acquire(0, 6, 7), release(0, 7, 8), release(0, 8, 9)};
  correct[0].outcome = Outcome::unknown;
  EXPECT_EQ(decide_semaphore_sessions(promise, correct, {}).answer, Answer::linearizable);
  History broken = correct;
  broken[3].call = 8;
  broken[3].ret = broken[4].call = 9;
  broken[4].ret = 10;
  EXPECT_EQ(decide_semaphore_sessions(promise, broken, {}).answer, Answer::violation);
  for (const History& history : {correct, broken}) {
    const auto wrong = oracle::disagreement(promise, history, decide_semaphore_sessions);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

TEST(SemaphoreSessions, KnowsWhatDoesNotMatter) {
  Rng rng(8);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 4; ++i) {
    const Promise promise = semaphore(Identity::session, 1 + static_cast<std::uint32_t>(rng.below(3)));
    const Mix mix{.operations = 16, .processes = 5, .unknown = 0.1};
    const History history = simulated_lock_history(promise, mix, rng.below(4), rng);
    const Answer answer = answer_of(promise, history);
    History moved = history;
    for (Operation& each : moved) {
      each.process = 4'000'000'000U - 3 * each.process;
      each.call = each.call * 2 - 77;
      if (each.ret != kNever) each.ret = each.ret * 2 - 77;
    }
    ASSERT_EQ(answer_of(promise, moved), answer) << oracle::print(promise, history);
    Promise larger = promise;
    ++larger.permits;
    if (answer != Answer::linearizable || history.empty()) continue;
    ASSERT_EQ(answer_of(larger, history), answer) << oracle::print(promise, history);
    History weaker = history;
    Operation& which = weaker[rng.below(weaker.size())];
    which.outcome = Outcome::unknown;
    which.ret = kNever;
    ASSERT_EQ(answer_of(promise, weaker), answer) << oracle::print(promise, weaker);
  }
}

// Backwards in time a release is an acquire, where all is given back and every outcome is known.
TEST(SemaphoreSessions, RunsBackwards) {
  Rng rng(9);
  std::uint64_t tried = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / 4; ++i) {
    const Promise promise = semaphore(Identity::session, 2);
    const Mix mix{.operations = 12, .processes = 4, .unknown = 0};
    const History history = simulated_lock_history(promise, mix, rng.below(4), rng);
    std::vector<int> held(4);
    for (const Operation& each : history) held[each.process] += each.f == Call::acquire ? 1 : -1;
    if (std::ranges::any_of(held, [](int count) { return count != 0; })) continue;
    History reversed = history;
    for (Operation& each : reversed) {
      each.f = each.f == Call::acquire ? Call::release : Call::acquire;
      each.call = -std::exchange(each.ret, -each.call);
    }
    std::ranges::sort(reversed, {}, &Operation::call);
    ASSERT_EQ(answer_of(promise, history), answer_of(promise, reversed)) << oracle::print(promise, history);
    ++tried;
  }
  EXPECT_GT(tried, oracle::random_cases() / 100);
}

TEST(SemaphoreSessions, DecidesLongHistoriesAndObeysItsLimits) {
  constexpr std::uint32_t kClients = 50;
  constexpr std::uint32_t kPermits = 9;
  History history;
  for (Instant round = 0; round < 4'000; ++round) {
    const auto client = static_cast<std::uint32_t>(round % kClients);
    history.push_back(acquire(client, 10 * round, 10 * round + 2));
    history.push_back(release(client, 10 * round + 91, 10 * round + 101));
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  const Promise promise = semaphore(Identity::session, kPermits);
  const Decision decision = decide_semaphore_sessions(promise, history, {});
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_FALSE(verify::refute(promise, history, decision));
  const Decision broken = decide_semaphore_sessions(semaphore(Identity::session, kPermits - 1), history, {});
  EXPECT_EQ(broken.answer, Answer::violation);
  EXPECT_EQ(broken.core.size(), std::size_t{kPermits});
  Limits late;
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(decide_semaphore_sessions(promise, history, late).answer, Answer::undecided);
}

}  // namespace
}  // namespace holdfast::objects
