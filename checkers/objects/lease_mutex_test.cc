#include "checkers/objects/lease_mutex.h"

#include <gtest/gtest.h>

#include "checkers/objects/lock_cases.h"
#include "checkers/oracle/lease_oracle.h"

namespace holdfast::objects {
namespace {

using oracle::lease_possible;
using testing::at;
using testing::History;
using testing::lock_operation;

Promise leases(Instant least, Instant greatest = kNever, Identity identity = Identity::hold) {
  return {.kind = Kind::lease_mutex, .identity = identity, .lease_least = least, .lease_greatest = greatest};
}

Operation acquire(Outcome outcome = Outcome::ok) {
  return lock_operation(Call::acquire, kNothing, outcome);
}

TEST(LeaseMutex, AnUnreleasedHoldKeepsTheLockForItsLeaseOnly) {
  const History early = {at(0, 1, acquire(), 1), at(2, 3, acquire(), 2)};
  const Decision decision = decide_lease_mutex(leases(4), early, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(decision.rule, "overlapping-holds");
  EXPECT_EQ(decide_lease_mutex(leases(4), History{at(0, 1, acquire(), 1), at(3, 4, acquire(), 2)}, {}).answer,
            Answer::linearizable);
}

TEST(LeaseMutex, ChainsOfSlidingLeasesCollideThoughNoTwoOfThemDo) {
  const History history = {at(0, 2, acquire(), 1), at(3, 5, acquire(), 2), at(6, 7, acquire(), 3)};
  const Decision decision = decide_lease_mutex(leases(4), history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(decision.rule, "impossible-grants");
}

TEST(LeaseMutex, ALeaseOfItsOwn) {
  History history = {at(0, 1, acquire(), 1), at(2, 3, acquire(), 2)};
  history[0].argument = 2;
  EXPECT_EQ(decide_lease_mutex(leases(4), history, {}).answer, Answer::linearizable);
}

TEST(LeaseMutex, ARenewalAfterTheLeaseMustHaveEnded) {
  const History history = {at(0, 1, acquire(), 1), at(9, 10, lock_operation(Call::renew), 1)};
  EXPECT_EQ(decide_lease_mutex(leases(4), history, {}).answer, Answer::linearizable);
  const Decision decision = decide_lease_mutex(leases(4, 6), history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "used-after-expiry");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1}));
}

TEST(LeaseMutex, SlowAcquiresThatWereNeverReleasedAreTriedInEveryOrder) {
  // Five leases of 3 within 15 instants just fit; within 14 they do not.
  for (const Instant end : {12, 11}) {
    History history;
    for (std::uint32_t i = 0; i < 5; ++i) history.push_back(at(0, end, acquire(), i));
    EXPECT_EQ(decide_lease_mutex(leases(3), history, {}).answer, end == 12 ? Answer::linearizable : Answer::violation);
  }
}

TEST(LeaseMutex, SomebodyWhoHeldExplainsARefusedAcquire) {
  const History history = {at(0, 1, acquire(), 1), at(2, 3, acquire(Outcome::refused), 2)};
  EXPECT_EQ(decide_lease_mutex(leases(4), history, {}).answer, Answer::linearizable);
  EXPECT_FALSE(oracle::disagreement(leases(4), history, decide_lease_mutex, lease_possible));
  EXPECT_EQ(decide_lease_mutex(leases(4), History{history[1]}, {}).answer, Answer::undecided);
}

TEST(LeaseMutex, SaysWhatItCannotRead) {
  EXPECT_THROW(decide_lease_mutex(leases(4), History{at(0, 1, acquire(), 1), at(2, 3, acquire(), 1)}, {}),
               std::invalid_argument);
}

// All operations of a small history, at whole instants up to `horizon`.
History random_leases(const Promise& promise, Rng& rng, bool apart) {
  History history;
  const auto up_to = [&rng](std::uint64_t most) { return static_cast<Instant>(rng.below(most + 1)); };
  const std::uint64_t slow = rng.chance(0.3) ? 8 : 2;
  const auto holds = static_cast<std::uint32_t>(1 + rng.below(4));
  for (std::uint32_t hold = 0; hold < holds && history.size() < 7; ++hold) {
    Instant now = up_to(7);
    Operation operation = acquire(rng.chance(0.2) ? Outcome::unknown : Outcome::ok);
    if (rng.chance(0.2)) operation.argument = 1 + up_to(3);
    for (auto more = static_cast<std::size_t>(1 + rng.below(holds < 3 ? 5 : 3)); more > 0; --more) {
      operation = at(now, now + up_to(slow), operation, hold);
      if (apart) operation.process = 10 + static_cast<std::uint32_t>(history.size());
      history.push_back(operation);
      if (operation.unknown() && promise.identity == Identity::crash) break;
      now = (operation.unknown() || apart ? operation.call : operation.ret) + up_to(apart ? 3 : 2);
      if (!apart) ++now;
      const double kind = rng.unit();
      const Outcome outcome = kind < 0.6 ? Outcome::ok : kind < 0.8 ? Outcome::unknown : Outcome::refused;
      operation = lock_operation(rng.chance(0.5) ? Call::renew : Call::release, kNothing, outcome);
      if (promise.identity == Identity::crash && rng.chance(0.3)) operation = acquire();
    }
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  return history;
}

void try_random_leases(const Promise& promise, std::uint64_t seed, std::uint64_t share, bool apart) {
  Rng rng(seed);
  std::uint64_t violations = 0;
  const std::uint64_t cases = oracle::random_cases() / share;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const History history = random_leases(promise, rng, apart);
    if (!testing::agree(promise, history, decide_lease_mutex, lease_possible)) return;
    violations += lease_possible(promise, history) ? 0U : 1U;
  }
  EXPECT_GT(violations, cases / 100);
  EXPECT_LT(violations, cases);
}

TEST(LeaseMutex, RandomHistories) {
  try_random_leases(leases(3), 1, 2, false);
  try_random_leases(leases(2, 4), 2, 8, false);
  try_random_leases(leases(kNever), 3, 8, false);
  try_random_leases(leases(3), 4, 8, true);
}

TEST(LeaseMutex, RandomHistoriesOfProcesses) {
  try_random_leases(leases(3, kNever, Identity::crash), 5, 4, false);
}

TEST(LeaseMutex, ManySlowAcquires) {
  Rng rng(6);
  std::uint64_t violations = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
    History history;
    for (std::uint32_t hold = 0; hold < 5; ++hold) {
      const auto call = static_cast<Instant>(rng.below(8));
      Operation operation = acquire();
      if (rng.chance(0.3)) operation.argument = static_cast<std::int64_t>(1 + rng.below(4));
      history.push_back(at(call, call + static_cast<Instant>(rng.below(10)), operation, hold));
      if (rng.chance(0.3)) {
        const Instant later = history.back().ret + 1;
        const Outcome outcome = rng.chance(0.7) ? Outcome::unknown : Outcome::ok;
        history.push_back(at(later, later + 2, lock_operation(Call::release, kNothing, outcome), hold));
      }
    }
    std::ranges::stable_sort(history, {}, &Operation::call);
    if (!testing::agree(leases(3), history, decide_lease_mutex, lease_possible)) return;
    violations += lease_possible(leases(3), history) ? 0U : 1U;
  }
  EXPECT_GT(violations, oracle::random_cases() / 2000);
}

TEST(LeaseMutex, AllSmallHistories) {
  std::vector<Operation> menu = {acquire(), acquire(Outcome::unknown)};
  for (const Call f : {Call::renew, Call::release}) {
    for (const Outcome outcome : {Outcome::ok, Outcome::unknown, Outcome::refused}) {
      menu.push_back(lock_operation(f, kNothing, outcome));
    }
  }
  for (const Promise& promise : {leases(1), leases(2, 3)}) {
    EXPECT_GT(testing::try_every_history(promise, menu, oracle::all_up_to(3), 2, decide_lease_mutex, false, 1,
                                         lease_possible),
              500U);
  }
  EXPECT_GT(testing::try_every_history(leases(2), menu, oracle::all_up_to(4), 2, decide_lease_mutex, false, 1,
                                       lease_possible),
            5'000U);
}

TEST(LeaseMutex, NothingDependsOnHowAHistoryIsWrittenDown) {
  Rng rng(8);
  const Promise promise = leases(3, 5);
  for (int round = 0; round < 5'000; ++round) {
    const History history = random_leases(promise, rng, false);
    const Answer before = decide_lease_mutex(promise, history, {}).answer;
    History changed = history;
    for (Operation& each : changed) {
      each.call += 12'345'678;
      if (each.ret != kNever) each.ret += 12'345'678;
      each.hold = 3'000'000'000U - each.hold;
      each.process += 77;
    }
    ASSERT_EQ(decide_lease_mutex(promise, changed, {}).answer, before) << oracle::print(promise, history);
    History twice = history;  // quiescent split: the same again, long after, with other holds
    for (Operation each : history) {
      each.call += 1'000;
      if (each.ret != kNever) each.ret += 1'000;
      each.hold += 100;
      each.process += 100;
      twice.push_back(each);
    }
    ASSERT_EQ(decide_lease_mutex(promise, twice, {}).answer, before) << oracle::print(promise, history);
  }
}

}  // namespace
}  // namespace holdfast::objects
