#include "checkers/objects/mutex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

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

Promise mutex(Identity identity, std::uint32_t reentrancy = 1) {
  Promise promise;
  promise.kind = Kind::mutex;
  promise.identity = identity;
  promise.reentrancy = reentrancy;
  return promise;
}

std::string what(Identity identity) {
  constexpr std::array<const char*, 4> kNames = {"crash", "hold", "session", "reuse"};
  return kNames.at(static_cast<std::size_t>(identity));
}

Operation acquire(std::uint32_t process, Instant call, Instant ret) {
  return {.call = call, .ret = ret, .process = process, .hold = process, .f = Call::acquire};
}
Operation release(std::uint32_t process, Instant call, Instant ret) {
  return {.call = call, .ret = ret, .process = process, .hold = process, .f = Call::release};
}
Operation unknown(Operation operation) {
  operation.outcome = Outcome::unknown;
  operation.ret = kNever;
  return operation;
}
Operation refused(Operation operation) {
  operation.outcome = Outcome::refused;
  return operation;
}

Operation of(std::uint32_t hold, Operation operation) {
  operation.hold = hold;
  return operation;
}

struct Tally {
  std::uint64_t histories = 0;
  std::uint64_t violations = 0;
  // Stops at the first disagreement.
  bool agrees(const Promise& promise, const History& history) {
    ++histories;
    if (!oracle::possible(promise, history)) ++violations;
    const auto wrong = oracle::disagreement(promise, history, decide_mutex);
    if (wrong) ADD_FAILURE() << what(promise.identity) << ", reentrancy " << promise.reentrancy << ": " << *wrong;
    return !wrong;
  }
};

void all_small(const Promise& promise, const Shape& shape) {
  Tally tally;
  bool fine = true;
  for_each_lock_history(promise, shape, [&](const History& history) {
    if (fine) fine = tally.agrees(promise, history);
  });
  EXPECT_GT(tally.violations, 0U);
  ::testing::Test::RecordProperty("histories", std::to_string(tally.histories));
}

// Up to four operations of every kind and outcome; of five those that change the state, with every outcome that a
// request of theirs can have.
void all_small_histories(Identity identity, std::uint32_t reentrancy) {
  const Promise promise = mutex(identity, reentrancy);
  for (std::size_t operations = 1; operations <= oracle::all_up_to(4); ++operations) {
    all_small(promise, {.operations = operations, .refused_releases = true, .refused_acquires = true});
  }
  all_small(promise, {.operations = 5});
}

TEST(Mutex, AgreesOnAllSmallHistoriesOfProcessesThatRetire) {
  all_small_histories(Identity::crash, 1);
  all_small_histories(Identity::crash, 2);
}
TEST(Mutex, AgreesOnAllSmallHistoriesOfSessions) {
  all_small_histories(Identity::session, 1);
}
TEST(Mutex, AgreesOnAllSmallHistoriesOfReentrantSessions) {
  all_small_histories(Identity::session, 2);
}
TEST(Mutex, AgreesOnAllSmallHistoriesOfHoldIds) {
  all_small_histories(Identity::hold, 1);
  all_small_histories(Identity::hold, 2);
}
TEST(Mutex, AgreesOnAllSmallHistoriesOfReusedOwners) {
  for (const std::uint32_t reentrancy : {1U, 2U}) {
    for (std::size_t operations = 1; operations <= oracle::all_up_to(4); ++operations) {
      all_small(mutex(Identity::reuse, reentrancy),
                {.operations = operations, .refused_releases = true, .refused_acquires = true});
    }
  }
}

void random_ones(Identity identity, double refused_acquire) {
  Rng rng(static_cast<std::uint64_t>(identity) * 2 + (refused_acquire > 0 ? 1 : 0) + 17);
  Tally tally;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const Promise promise = mutex(identity, 1 + static_cast<std::uint32_t>(rng.below(3)));
    const Mix mix{.operations = 3 + rng.below(7),
                  .processes = 1 + static_cast<std::uint32_t>(rng.below(4)),
                  .unknown = rng.unit() * 0.5,
                  .refused_release = rng.chance(0.5) ? 0.1 : 0,
                  .refused_acquire = refused_acquire,
                  .ties = rng.chance(0.3)};
    const History history =
        i % 3 == 0 ? random_lock_history(promise, mix, rng) : simulated_lock_history(promise, mix, rng.below(5), rng);
    if (!tally.agrees(promise, history)) return;
  }
  EXPECT_GT(tally.violations, tally.histories / 50);
  EXPECT_LT(tally.violations, tally.histories);
}

TEST(Mutex, AgreesOnRandomHistoriesOfProcessesThatRetire) {
  random_ones(Identity::crash, 0);
}
TEST(Mutex, AgreesOnRandomHistoriesOfSessions) {
  random_ones(Identity::session, 0);
}
TEST(Mutex, AgreesOnRandomHistoriesOfHoldIds) {
  random_ones(Identity::hold, 0);
}
TEST(Mutex, AgreesOnRandomHistoriesOfReusedOwners) {
  random_ones(Identity::reuse, 0);
}
TEST(Mutex, AgreesOnRandomHistoriesWithRefusedAcquires) {
  for (const Identity identity : {Identity::crash, Identity::session, Identity::hold, Identity::reuse}) {
    random_ones(identity, 0.25);
  }
}

// A hold id says whose hold it is; which process speaks of it does not matter.
TEST(Mutex, AgreesOnRandomHistoriesOfHoldsThatAnotherProcessReleases) {
  Rng rng(99);
  Tally tally;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const Promise promise = mutex(Identity::hold);
    const Mix mix{.operations = 3 + rng.below(6),
                  .processes = 1 + static_cast<std::uint32_t>(rng.below(4)),
                  .unknown = rng.unit() * 0.4,
                  .refused_release = rng.chance(0.5) ? 0.2 : 0,
                  .refused_acquire = rng.chance(0.3) ? 0.2 : 0,
                  .ties = rng.chance(0.2)};
    History history =
        i % 3 == 0 ? random_lock_history(promise, mix, rng) : simulated_lock_history(promise, mix, rng.below(4), rng);
    std::uint32_t process = 100;
    for (Operation& each : history) {
      if (!rng.chance(0.6)) continue;
      each.process = process++;
      // Then it need not wait for the others, either.
      if (!rng.chance(0.1)) continue;
      each.call -= static_cast<Instant>(rng.below(40));
    }
    std::ranges::stable_sort(history, {}, &Operation::call);
    if (!tally.agrees(promise, history)) return;
  }
  EXPECT_GT(tally.violations, tally.histories / 50);
  EXPECT_LT(tally.violations, tally.histories);
}

// Known cores.
struct Planted {
  const char* name;
  History history;
  Identity identity;
  std::uint32_t reentrancy;
  std::string rule;
  std::vector<std::uint32_t> core;
};

TEST(Mutex, NamesTheCoreOfPlantedViolations) {
  const std::vector<Planted> cases = {
      {"two holds at once",
       {acquire(0, 0, 1), acquire(1, 2, 3), release(0, 4, 5), release(1, 6, 7)},
       Identity::crash,
       1,
       "overlapping-holds",
       {0, 1}},
      {"two holds at once, by id",
       {acquire(0, 0, 1), acquire(1, 2, 3), release(0, 4, 5), release(1, 6, 7)},
       Identity::hold,
       1,
       "overlapping-holds",
       {0, 1}},
      {"a lost release that was none",
       {acquire(0, 0, 1), unknown(release(0, 2, 3)), acquire(1, 4, 5), release(0, 6, 7)},
       Identity::session,
       1,
       "overlapping-holds",
       {2, 3}},
      {"a hold within a hold",
       {unknown(acquire(1, 0, 1)), acquire(0, 2, 3), release(1, 4, 5), release(0, 6, 7)},
       Identity::hold,
       1,
       "hold-within-hold",
       {1, 2}},
      {"acquired twice", {acquire(0, 0, 1), acquire(0, 2, 3)}, Identity::crash, 1, "acquired-twice", {0, 1}},
      {"once too often",
       {acquire(0, 0, 1), acquire(0, 2, 3), acquire(0, 4, 5)},
       Identity::crash,
       2,
       "reentrancy-exceeded",
       {0, 1, 2}},
      {"released without acquire",
       {acquire(1, 0, 1), release(1, 2, 3), release(0, 4, 5)},
       Identity::crash,
       1,
       "release-without-acquire",
       {2}},
      {"released twice",
       {acquire(0, 0, 1), release(0, 2, 3), release(0, 4, 5)},
       Identity::crash,
       1,
       "release-without-acquire",
       {1, 2}},
      {"not held, it said",
       {acquire(0, 0, 1), refused(release(0, 2, 3))},
       Identity::crash,
       1,
       "refused-while-held",
       {0, 1}},
      {"nobody had it",
       {acquire(0, 0, 1), release(0, 2, 3), refused(acquire(1, 4, 5))},
       Identity::crash,
       1,
       "phantom-holder",
       {1, 2}},
      {"nobody had it, and one hold had been lost before",
       {of(1, acquire(0, 0, 2)), of(0, acquire(1, 1, 5)), of(1, unknown(release(0, 3, 3))),
        of(1, refused(release(0, 4, 7))), of(0, release(1, 6, 8)), of(2, refused(acquire(0, 9, 10)))},
       Identity::hold,
       1,
       "phantom-holder",
       {0, 4, 5}},
  };
  for (const Planted& each : cases) {
    const Promise promise = mutex(each.identity, each.reentrancy);
    const Decision decision = decide_mutex(promise, each.history, {});
    EXPECT_EQ(decision.answer, Answer::violation) << each.name;
    EXPECT_EQ(decision.rule, each.rule) << each.name;
    EXPECT_EQ(decision.core, each.core) << each.name << ": " << decision.because;
    EXPECT_LE(decision.from, decision.to) << each.name;
    for (std::size_t i = 0; i < each.core.size(); ++i) {
      EXPECT_NE(decision.because.find('{' + std::to_string(i) + '}'), std::string::npos) << decision.because;
    }
    const auto wrong = oracle::disagreement(promise, each.history, decide_mutex);
    EXPECT_FALSE(wrong) << each.name << ": " << *wrong;
  }
}

TEST(Mutex, IsSilentOnTheCorrectTwins) {
  const std::vector<History> cases = {
      {acquire(0, 0, 1), release(0, 2, 4), acquire(1, 3, 5), release(1, 6, 7)},
      {acquire(0, 0, 1), unknown(release(0, 2, 3)), acquire(1, 4, 5)},
      {unknown(acquire(1, 0, 1)), acquire(0, 2, 3), release(0, 4, 6), release(1, 5, 7)},
      {acquire(0, 0, 1), release(0, 2, 4), refused(acquire(1, 3, 5))},
  };
  for (const History& history : cases) {
    const Promise promise = mutex(Identity::crash);
    EXPECT_EQ(decide_mutex(promise, history, {}).answer, Answer::linearizable) << oracle::print(promise, history);
    EXPECT_FALSE(oracle::disagreement(promise, history, decide_mutex));
  }
}

Answer answer_of(const Promise& promise, const History& history) {
  return decide_mutex(promise, history, {}).answer;
}

// What must not matter does not, and what weakens a history never makes it worse.
TEST(Mutex, KnowsWhatDoesNotMatter) {
  Rng rng(5);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 4; ++i) {
    const Identity identity = i % 2 == 0 ? Identity::session : Identity::hold;
    const Promise promise = mutex(identity, 1 + static_cast<std::uint32_t>(rng.below(2)));
    const Mix mix{.operations = 16, .processes = 4, .unknown = 0.1, .refused_release = 0.05};
    const History history = simulated_lock_history(promise, mix, rng.below(3), rng);
    const Answer answer = answer_of(promise, history);

    History renamed = history;
    for (Operation& each : renamed) {
      each.process = 4'000'000'000U - 7 * each.process;
      if (each.hold != kNone) each.hold = 3'000'000'000U - 5 * each.hold;
    }
    ASSERT_EQ(answer_of(promise, renamed), answer) << oracle::print(promise, history);

    History shifted = history;
    for (Operation& each : shifted) {
      each.call = each.call * 3 - 1'000'000;
      if (each.ret != kNever) each.ret = each.ret * 3 - 1'000'000;
    }
    ASSERT_EQ(answer_of(promise, shifted), answer) << oracle::print(promise, history);

    if (history.empty()) continue;
    History weaker = history;
    const std::size_t which = rng.below(weaker.size());
    if (weaker[which].refused()) {
      weaker.erase(weaker.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      weaker[which].outcome = Outcome::unknown;
      weaker[which].ret = kNever;
    }
    if (answer == Answer::linearizable) {
      ASSERT_EQ(answer_of(promise, weaker), answer) << oracle::print(promise, weaker);
    }
  }
}

// Two histories one after the other, the lock free in between, are possible exactly when both are.
TEST(Mutex, SplitsAtRest) {
  Rng rng(6);
  const Promise promise = mutex(Identity::session, 2);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 4; ++i) {
    const Mix mix{.operations = 8, .processes = 3, .unknown = 0};
    History one = simulated_lock_history(promise, mix, rng.below(3), rng);
    const History other = simulated_lock_history(promise, mix, rng.below(3), rng);
    std::map<std::uint32_t, int> held;
    for (const Operation& each : one) held[each.process] += each.f == Call::acquire ? 1 : -1;
    if (std::ranges::any_of(held, [](const auto& each) { return each.second != 0; })) continue;
    const bool both =
        answer_of(promise, one) == Answer::linearizable && answer_of(promise, other) == Answer::linearizable;
    for (Operation each : other) {
      each.call += 1000;
      each.ret += 1000;
      one.push_back(each);
    }
    ASSERT_EQ(answer_of(promise, one) == Answer::linearizable, both) << oracle::print(promise, one);
  }
}

// Backwards in time a release is an acquire. Defined where every hold is complete and every outcome known.
TEST(Mutex, RunsBackwards) {
  Rng rng(7);
  std::uint64_t tried = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases() / 4; ++i) {
    const Promise promise = mutex(Identity::session, 1 + static_cast<std::uint32_t>(rng.below(2)));
    const Mix mix{.operations = 12, .processes = 3, .unknown = 0};
    const History history = simulated_lock_history(promise, mix, rng.below(4), rng);
    std::map<std::uint32_t, int> held;
    for (const Operation& each : history) held[each.process] += each.f == Call::acquire ? 1 : -1;
    if (std::ranges::any_of(held, [](const auto& each) { return each.second != 0; })) continue;
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

// Clients that take turns, `waiting` of them at a time; two of them together at the end when `broken`.
History long_history(std::size_t operations, std::uint32_t clients, bool broken) {
  History history;
  history.reserve(operations + 2);
  Instant now = 0;
  for (std::size_t i = 0; history.size() + 1 < operations; ++i, now += 10) {
    const auto client = static_cast<std::uint32_t>(i % clients);
    const Instant asked = std::max<Instant>(0, now - 10 * static_cast<Instant>(clients / 2));
    history.push_back(acquire(client, asked, now + 2));
    history.push_back(release(client, now + 5, now + 11));
    history[history.size() - 2].hold = history.back().hold = static_cast<std::uint32_t>(i);
  }
  if (broken) {
    Operation extra = acquire(clients, now - 8, now - 7);
    extra.hold = static_cast<std::uint32_t>(history.size());
    history.push_back(extra);
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  return history;
}

TEST(Mutex, DecidesLongHistoriesOfManyClientsAtOnce) {
  for (const Identity identity : {Identity::session, Identity::hold}) {
    for (const bool broken : {false, true}) {
      const History history = long_history(200'000, 50, broken);
      const Decision decision = decide_mutex(mutex(identity), history, {});
      EXPECT_EQ(decision.answer, broken ? Answer::violation : Answer::linearizable);
      EXPECT_EQ(decision.core.size(), broken ? 2U : 0U);
      EXPECT_EQ(decision.searched, 0U);
      EXPECT_FALSE(verify::refute(mutex(identity), history, decision));
    }
  }
}

TEST(Mutex, ObeysItsLimits) {
  const History history = long_history(1'000, 10, false);
  Limits late;
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(decide_mutex(mutex(Identity::session), history, late).answer, Answer::undecided);
  EXPECT_EQ(decide_mutex(mutex(Identity::hold), history, late).answer, Answer::undecided);
  Limits small;
  small.bytes = 100;
  EXPECT_EQ(decide_mutex(mutex(Identity::session), history, small).answer, Answer::undecided);
  Limits bare;
  bare.witness = false;
  const Decision decision = decide_mutex(mutex(Identity::session), history, bare);
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_TRUE(decision.witness.empty());
}

TEST(Mutex, RefusesWhatIsNoLockOperation) {
  for (const Identity identity : {Identity::session, Identity::hold}) {
    EXPECT_THROW(decide_mutex(mutex(identity), History{{.call = 0, .ret = 1, .f = Call::write}}, {}),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace holdfast::objects
