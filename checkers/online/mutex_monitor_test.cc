#include "checkers/online/mutex_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "checkers/objects/lock_histories.h"
#include "checkers/oracle/oracle.h"

namespace holdfast::online {
namespace {

using objects::Call;
using objects::Identity;
using objects::Instant;
using objects::kNever;
using objects::Operation;
using objects::Outcome;
using objects::Promise;
using objects::testing::Mix;
using oracle::History;

Promise mutex(Identity identity) {
  Promise promise;
  promise.kind = objects::Kind::mutex;
  promise.identity = identity;
  return promise;
}

// A history as it happens. An operation with a time of return that `fails` says so then.
struct Recording {
  History history;
  std::vector<bool> fails;
};

struct Event {
  Instant time;
  std::size_t operation;
  bool is_call;
};

std::vector<Event> events_of(const Recording& recording) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < recording.history.size(); ++i) {
    events.push_back({recording.history[i].call, i, true});
    if (recording.history[i].ret != kNever) events.push_back({recording.history[i].ret, i, false});
  }
  std::ranges::stable_sort(events, {}, [](const Event& each) { return std::pair(each.time, !each.is_call); });
  return events;
}

// The time of the event that the monitor names first; kNever if it names none.
Instant named_by_monitor(const Promise& promise, const Recording& recording) {
  MutexMonitor monitor(promise);
  std::vector<std::size_t> under_way(64, SIZE_MAX);
  for (const Event& event : events_of(recording)) {
    const Operation& operation = recording.history[event.operation];
    std::size_t& open = under_way.at(operation.process);
    if (event.is_call) {
      if (open != SIZE_MAX) {
        EXPECT_FALSE(monitor.returned(operation.process, Returned::unknown, event.time));
      }
      monitor.call(operation);
      open = event.operation;
      continue;
    }
    open = SIZE_MAX;
    const Returned outcome = recording.fails[event.operation] ? Returned::fail
                             : operation.refused()            ? Returned::refused
                                                              : Returned::ok;
    const auto found = monitor.returned(operation.process, outcome, event.time);
    EXPECT_EQ(found.has_value(), monitor.violated());
    if (!found) continue;
    EXPECT_EQ(found->time, event.time);
    EXPECT_FALSE(found->rule.empty());
    EXPECT_FALSE(found->operations.empty());
    for (std::size_t i = 0; i < found->operations.size(); ++i) {
      EXPECT_NE(found->because.find('{' + std::to_string(i) + '}'), std::string::npos) << found->because;
    }
    return found->time;
  }
  return kNever;
}

// The history as it was known after the event at `time`.
History prefix(const Recording& recording, Instant time) {
  History result;
  for (std::size_t i = 0; i < recording.history.size(); ++i) {
    Operation operation = recording.history[i];
    if (operation.call > time) break;
    if (operation.ret > time) {
      operation.outcome = Outcome::unknown;
      operation.ret = kNever;
    } else if (recording.fails[i]) {
      continue;
    }
    result.push_back(operation);
  }
  return result;
}

// Likewise by the slow way: every prefix is checked anew.
Instant named_by_oracle(const Promise& promise, const Recording& recording) {
  for (const Event& event : events_of(recording)) {
    if (!event.is_call && !oracle::possible(promise, prefix(recording, event.time))) return event.time;
  }
  return kNever;
}

struct Tally {
  std::uint64_t recordings = 0;
  std::uint64_t violations = 0;
  bool agrees(const Promise& promise, const Recording& recording) {
    ++recordings;
    const Instant expected = named_by_oracle(promise, recording);
    if (expected != kNever) ++violations;
    const Instant named = named_by_monitor(promise, recording);
    if (named == expected) return true;
    std::string failing;
    for (std::size_t i = 0; i < recording.fails.size(); ++i) {
      if (recording.fails[i]) failing += ' ' + std::to_string(i);
    }
    ADD_FAILURE() << "expected " << expected << ", not " << named << "; failing:" << failing << '\n'
                  << oracle::print(promise, recording.history);
    return false;
  }
};

// A hold id begins with its acquire.
bool begins_with_acquires(const Promise& promise, const History& history) {
  if (promise.identity != Identity::hold) return true;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].f != Call::acquire) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (history[j].hold == history[i].hold) return false;
    }
  }
  return true;
}

// Refused acquires stand for acquires that failed, refused releases for releases that failed or were refused.
void all_small(Identity identity) {
  const Promise promise = mutex(identity);
  Tally tally;
  bool fine = true;
  for (std::size_t operations = 1; operations <= 5; ++operations) {
    const bool failures = operations < 5;
    objects::testing::for_each_lock_history(
        promise, {.operations = operations, .refused_releases = failures, .refused_acquires = failures},
        [&](const History& history) {
          if (!fine || !begins_with_acquires(promise, history)) return;
          for (const bool failed : {false, true}) {
            Recording recording{.history = history, .fails = std::vector<bool>(history.size())};
            bool any = false;
            for (std::size_t i = 0; i < history.size(); ++i) {
              if (!history[i].refused()) continue;
              if (history[i].f == Call::release && !failed) continue;
              recording.fails[i] = true;
              any = any || history[i].f == Call::release;
            }
            if (failed && !any) continue;
            fine = tally.agrees(promise, recording);
            if (!fine) return;
          }
        });
  }
  EXPECT_GT(tally.violations, 0U);
}

TEST(MutexMonitor, NamesTheFirstEventOfAllSmallHistoriesOfSessions) {
  all_small(Identity::session);
}
TEST(MutexMonitor, NamesTheFirstEventOfAllSmallHistoriesOfProcessesThatRetire) {
  all_small(Identity::crash);
}
TEST(MutexMonitor, NamesTheFirstEventOfAllSmallHistoriesOfHoldIds) {
  all_small(Identity::hold);
}

void random_ones(Identity identity) {
  Rng rng(static_cast<std::uint64_t>(identity) + 3);
  const Promise promise = mutex(identity);
  Tally tally;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const Mix mix{.operations = 3 + rng.below(10),
                  .processes = 1 + static_cast<std::uint32_t>(rng.below(4)),
                  .unknown = rng.unit() * 0.4,
                  .refused_release = rng.chance(0.5) ? 0.1 : 0};
    Recording recording;
    recording.history = i % 3 == 0 ? objects::testing::random_lock_history(promise, mix, rng)
                                   : objects::testing::simulated_lock_history(promise, mix, rng.below(5), rng);
    const double failing = rng.chance(0.5) ? 0.2 : 0;
    for (const Operation& each : recording.history) {
      const bool refused_acquire = each.refused() && each.f == Call::acquire;
      recording.fails.push_back(!each.unknown() && (refused_acquire || rng.chance(failing)));
    }
    if (!tally.agrees(promise, recording)) return;
  }
  EXPECT_GT(tally.violations, tally.recordings / 50);
  EXPECT_LT(tally.violations, tally.recordings);
}

TEST(MutexMonitor, NamesTheFirstEventOfRandomHistoriesOfSessions) {
  random_ones(Identity::session);
}
TEST(MutexMonitor, NamesTheFirstEventOfRandomHistoriesOfProcessesThatRetire) {
  random_ones(Identity::crash);
}
TEST(MutexMonitor, NamesTheFirstEventOfRandomHistoriesOfHoldIds) {
  random_ones(Identity::hold);
}

Operation request(Call f, std::uint32_t process, Instant call) {
  return {.call = call, .process = process, .hold = process, .f = f};
}

TEST(MutexMonitor, SaysWhoHeldIt) {
  MutexMonitor monitor(mutex(Identity::session));
  monitor.call(request(Call::acquire, 0, 0));
  EXPECT_FALSE(monitor.returned(0, Returned::ok, 1));
  monitor.call(request(Call::release, 0, 2));
  monitor.call(request(Call::acquire, 1, 3));
  EXPECT_FALSE(monitor.returned(1, Returned::ok, 4));  // the release may have taken effect
  const auto found = monitor.returned(0, Returned::fail, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rule, "overlapping-holds");
  EXPECT_EQ(found->operations, (std::vector<std::uint64_t>{0, 2, 1}));
  EXPECT_EQ(found->time, 5);
}

TEST(MutexMonitor, ForgetsWhatCannotMatter) {
  for (const Identity identity : {Identity::session, Identity::hold}) {
    MutexMonitor monitor(mutex(identity));
    constexpr std::uint32_t kClients = 20;
    Instant now = 0;
    for (std::uint32_t i = 0; i < 100'000; ++i) {
      Operation operation = request(Call::acquire, i % kClients, now++);
      operation.hold = i;
      monitor.call(operation);
      ASSERT_FALSE(monitor.returned(i % kClients, Returned::ok, now++));
      operation.f = Call::release;
      operation.call = now++;
      monitor.call(operation);
      ASSERT_FALSE(monitor.returned(i % kClients, Returned::ok, now++));
      ASSERT_LT(monitor.remembered(), 200U);
    }
  }
}

TEST(MutexMonitor, RefusesWhatItCannotWatch) {
  Promise reentrant = mutex(Identity::session);
  reentrant.reentrancy = 2;
  EXPECT_THROW(MutexMonitor{reentrant}, std::invalid_argument);
  EXPECT_THROW(MutexMonitor{mutex(Identity::reuse)}, std::invalid_argument);
  MutexMonitor monitor(mutex(Identity::session));
  EXPECT_THROW(monitor.call(request(Call::write, 0, 0)), std::invalid_argument);
  EXPECT_THROW(monitor.returned(0, Returned::ok, 1), std::invalid_argument);
  monitor.call(request(Call::acquire, 0, 0));
  EXPECT_THROW(monitor.call(request(Call::acquire, 0, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::online
