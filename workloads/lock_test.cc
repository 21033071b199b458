#include "workloads/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/simulation.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

SystemEntry system_with(bool leases, bool tokens) {
  SystemEntry entry;
  entry.name = "simulated";
  entry.leases = leases;
  entry.tokens = tokens;
  return entry;
}
const SystemEntry kLeased = system_with(true, false);
const SystemEntry kFenced = system_with(true, true);
const SystemEntry kUnleased = system_with(false, false);

// A lock service and the guarded resource, as they should be. Each operation takes effect when it is invoked.
class SimulatedService {
 public:
  explicit SimulatedService(const SystemEntry& system, std::uint64_t seed = 1) : system_(system), rng_(seed) {}

  Outcome operator()(const Event& event) {
    Outcome outcome{.latency = 200us + Time(rng_.below(800'000))};
    if (event.f == "acquire") return acquire(event, std::move(outcome));
    if (event.f == "release") return release(event, std::move(outcome));
    return access(event, std::move(outcome));
  }

  void occupy(const std::string& key) { holders_[key] = {.hold = -1, .until = Time::max()}; }
  bool exclusive = true;

 private:
  struct Holder {
    std::int64_t hold = 0;
    Time until{};
  };
  static Outcome refuse(Outcome outcome, const char* error) {
    outcome.type = EventType::fail;
    outcome.error = error;
    return outcome;
  }

  Outcome acquire(const Event& event, Outcome outcome) {
    const auto found = holders_.find(event.key);
    if (exclusive && found != holders_.end() && event.time < found->second.until) return refuse(outcome, "held");
    const Time lease = std::chrono::milliseconds(event.value.value("lease_ms", 0));
    holders_[event.key] = {.hold = event.value["hold"], .until = lease > 0ms ? event.time + lease : Time::max()};
    if (system_.tokens) outcome.value = {{"token", ++last_token_}};
    return outcome;
  }
  Outcome release(const Event& event, Outcome outcome) {
    const auto found = holders_.find(event.key);
    const bool held = found != holders_.end() && found->second.hold == event.value["hold"];
    if (!held || event.time >= found->second.until) return refuse(outcome, "not-held");
    holders_.erase(found);
    return outcome;
  }
  Outcome access(const Event& event, Outcome outcome) {
    if (event.value.contains("token")) {
      std::int64_t& highest = highest_[event.key];
      if (event.value["token"] < highest) return refuse(outcome, "stale-token");
      highest = event.value["token"];
    }
    if (event.f == "write") {
      values_[event.key] = event.value["now"];
    } else {
      outcome.value = {{"value", values_[event.key]}};
    }
    return outcome;
  }

  const SystemEntry& system_;
  Rng rng_;
  std::map<std::string, Holder> holders_;
  std::map<std::string, std::int64_t> values_;
  std::map<std::string, std::int64_t> highest_;
  std::int64_t last_token_ = 0;
};

std::int64_t field(const Event& event, const char* name) {
  return event.value.at(name).get<std::int64_t>();
}

struct Did {
  std::vector<Operation> operations;
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> list;
    list.reserve(operations.size());
    for (const Operation& operation : operations) list.push_back(operation.invoke->f);
    return list;
  }
};

std::map<std::int64_t, Did> by_process(const History& history) {
  std::map<std::int64_t, Did> found;
  for (const Operation& operation : history.operations()) {
    found[number(operation.invoke->process)].operations.push_back(operation);
  }
  return found;
}

std::vector<Operation> all(const History& history, std::string_view f) {
  std::vector<Operation> found;
  for (const Operation& operation : history.operations()) {
    if (operation.invoke->f == f) found.push_back(operation);
  }
  return found;
}

std::map<std::string, Validity> verdicts(const History& history, const Workload& workload) {
  std::map<std::string, Validity> found;
  for (const auto& checker : workload.checkers) found.emplace(checker->name(), checker->check(history, {}).validity);
  return found;
}

History run_main(const Workload& workload, std::size_t lanes, const std::function<Outcome(const Event&)>& service) {
  Simulated run = simulate(*workload.generator, {.lanes = lanes, .perform = service});
  EXPECT_TRUE(run.finished);
  return History(std::move(run.events));
}

TEST(LockWorkload, EachClientGoesThroughTheCycle) {
  const Workload workload = lock_workload({.system = &kLeased, .seed = 1, .time_limit = 5s, .locks = 2});
  EXPECT_TRUE(workload.needs_resource);
  const History history = run_main(workload, 4, SimulatedService(kLeased));
  std::size_t rounds = 0;
  for (const auto& [process, did] : by_process(history)) {
    const Operation* previous = nullptr;
    for (const Operation& operation : did.operations) {
      const std::string& f = operation.invoke->f;
      const bool granted = previous != nullptr && previous->invoke->f == "acquire" && previous->ok();
      EXPECT_EQ(f == "read", granted);
      if (f == "acquire") {
        EXPECT_TRUE(previous == nullptr || previous->invoke->f == "release" || previous->failed());
      } else {
        EXPECT_TRUE(operation.ok());
        EXPECT_EQ(operation.invoke->value["hold"], previous->invoke->value["hold"]);
        EXPECT_EQ(operation.invoke->key, previous->invoke->key);
      }
      if (f == "write") {
        EXPECT_EQ(previous->invoke->f, "read");
        EXPECT_EQ(operation.invoke->value["was"], previous->complete->value["value"]);
        EXPECT_EQ(operation.invoke->time - previous->complete->time, 60ms) << "the hold time";
      }
      if (f == "release") {
        EXPECT_EQ(previous->invoke->f, "write");
        ++rounds;
      }
      previous = &operation;
    }
  }
  EXPECT_GT(rounds, 60U);
}

TEST(LockWorkload, HoldsAndWrittenValuesAreUniqueInBothPhases) {
  const Workload workload = lock_workload({.system = &kLeased, .seed = 1, .time_limit = 2s, .locks = 3});
  SimulatedService service(kLeased);
  std::set<std::int64_t> holds;
  std::set<std::int64_t> values = {0};  // what the resource starts with
  for (Generator* const phase : {workload.generator.get(), workload.final_generator.get()}) {
    const Simulated run = simulate(*phase, {.lanes = 4, .perform = std::ref(service)});
    for (const Event& event : run.events) {
      if (event.type != EventType::invoke) continue;
      if (event.f == "acquire") {
        EXPECT_TRUE(holds.insert(field(event, "hold")).second);
      } else if (event.f == "write") {
        EXPECT_TRUE(values.insert(field(event, "now")).second);
      }
    }
  }
  EXPECT_GT(values.size(), 30U);
}

TEST(LockWorkload, TheLeaseIsAskedForOnlyWhereThereIsOne) {
  for (const SystemEntry* const system : {&kLeased, &kUnleased}) {
    const Workload workload = lock_workload({.system = system, .seed = 1, .time_limit = 1s, .lease = 700ms});
    const History history = run_main(workload, 2, SimulatedService(*system));
    for (const Operation& operation : all(history, "acquire")) {
      ASSERT_EQ(operation.invoke->value.contains("lease_ms"), system->leases);
      if (system->leases) {
        ASSERT_EQ(operation.invoke->value["lease_ms"], 700);
      }
    }
    EXPECT_EQ(workload.final_limit, system->leases ? 3400ms : 3000ms);
  }
}

TEST(LockWorkload, ATokenGoesToTheResource) {
  const Workload workload = lock_workload({.system = &kFenced, .seed = 1, .time_limit = 2s});
  const History history = run_main(workload, 3, SimulatedService(kFenced));
  std::map<std::int64_t, Value> tokens;
  for (const Operation& operation : all(history, "acquire")) {
    if (operation.ok()) tokens[field(*operation.invoke, "hold")] = operation.complete->value["token"];
  }
  ASSERT_GT(tokens.size(), 15U);
  for (const char* const f : {"read", "write"}) {
    const std::vector<Operation> accesses = all(history, f);
    EXPECT_EQ(accesses.size(), tokens.size());
    for (const Operation& operation : accesses) {
      EXPECT_EQ(operation.invoke->value["token"], tokens.at(field(*operation.invoke, "hold")));
    }
  }
}

TEST(LockWorkload, ARefusedClientPollsThenRestsThenTriesAnotherLock) {
  const Workload workload =
      lock_workload({.system = &kUnleased, .seed = 1, .time_limit = 20s, .wait = 500ms, .poll = 20ms, .locks = 3});
  SimulatedService service(kUnleased);
  for (const char* const key : {"L1", "L2", "L3"}) service.occupy(key);
  const History history = run_main(workload, 1, std::ref(service));
  const auto attempts = history.operations();
  ASSERT_GT(attempts.size(), 500U);
  std::map<std::string, int> rounds;
  Time round_start{};
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    const Time gap = attempts[i].invoke->time - attempts[i - 1].complete->time;
    ASSERT_THAT(gap, AllOf(Ge(15ms), Le(25ms)));
    if (attempts[i].invoke->key == attempts[i - 1].invoke->key) continue;
    ++rounds[attempts[i].invoke->key];
    EXPECT_GE(attempts[i].invoke->time - round_start, 470ms) << "it keeps trying while the wait lasts";
    round_start = attempts[i].invoke->time;
  }
  EXPECT_EQ(rounds.size(), 3U);
}

// What one client does up to its second attempt, when `change` has had its way with the outcomes of its first hold.
std::vector<std::string> after(const SystemEntry& system, const std::function<void(const Event&, Outcome&)>& change) {
  const Workload workload = lock_workload({.system = &system, .seed = 1, .time_limit = 200ms});
  SimulatedService service(system);
  const History history = run_main(workload, 1, [&](const Event& event) {
    Outcome outcome = service(event);
    if (event.value["hold"] == 1) change(event, outcome);
    return outcome;
  });
  std::vector<std::string> did;
  for (const Operation& operation : history.operations()) {
    did.push_back(operation.invoke->f + " " + operation.invoke->value["hold"].dump());
    if (operation.invoke->f == "acquire" && operation.invoke->value["hold"] == 2) break;
  }
  return did;
}

TEST(LockWorkload, ARefusedAccessIsFollowedByTheRelease) {
  const auto refuse = [](const char* f) {
    return [f](const Event& event, Outcome& outcome) {
      if (event.f != f) return;
      outcome.type = EventType::fail;
      outcome.error = "stale-token";
    };
  };
  EXPECT_THAT(after(kFenced, refuse("read")), ElementsAre("acquire 1", "read 1", "release 1", "acquire 2"));
  EXPECT_THAT(after(kFenced, refuse("write")), ElementsAre("acquire 1", "read 1", "write 1", "release 1", "acquire 2"));
}

TEST(LockWorkload, ALostLockIsNeitherUsedNorReleased) {
  const auto lose = [](const char* f, Time when, std::int64_t hold) {
    return [f, when, hold](const Event& event, Outcome& outcome) {
      if (event.f == f) outcome.notes = {{.after = when, .f = "lost", .value = {{"hold", hold}}}};
    };
  };
  EXPECT_THAT(after(kLeased, lose("read", 30ms, 1)), ElementsAre("acquire 1", "read 1", "acquire 2"))
      << "in the middle of the critical section";
  EXPECT_THAT(after(kLeased, lose("read", 1us, 1)), ElementsAre("acquire 1", "read 1", "acquire 2"))
      << "while it reads";
  EXPECT_THAT(after(kLeased, lose("write", 1us, 1)), ElementsAre("acquire 1", "read 1", "write 1", "acquire 2"))
      << "while it writes: what is under way cannot be called back";
  EXPECT_THAT(after(kLeased, lose("acquire", 1us, 1)), ElementsAre("acquire 1", "acquire 2")) << "before it began";
  const auto whole = ElementsAre("acquire 1", "read 1", "write 1", "release 1", "acquire 2");
  EXPECT_THAT(after(kLeased, lose("read", 30ms, 77)), whole) << "the loss of another hold is not ours";
  EXPECT_THAT(after(kLeased, lose("release", 1us, 1)), whole);
  EXPECT_THAT(after(kLeased,
                    [](const Event& event, Outcome& outcome) {
                      if (event.f == "read") outcome.notes = {{.after = 30ms, .f = "lost", .value = "what?"}};
                    }),
              whole);
}

TEST(LockWorkload, TheEndOfTheTimeDoesNotEndACriticalSection) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Time end = 1s + Time(seed * 1'700'000);
    const Workload workload =
        lock_workload({.system = &kUnleased, .seed = seed, .time_limit = end, .hold = 100ms, .locks = 2});
    const History history = run_main(workload, 4, SimulatedService(kUnleased, seed));
    std::set<std::int64_t> held;
    for (const Operation& operation : history.operations()) {
      if (operation.invoke->f == "acquire") {
        EXPECT_LT(operation.invoke->time, end);
        if (operation.ok()) held.insert(field(*operation.invoke, "hold"));
      }
      if (operation.invoke->f == "release") held.erase(field(*operation.invoke, "hold"));
    }
    EXPECT_TRUE(held.empty()) << "seed " << seed;
    EXPECT_LE(history.end(), end + 110ms);
  }
}

TEST(LockWorkload, ALockGrantedAfterTheEndIsUsedAndReleased) {
  const Workload workload = lock_workload({.system = &kUnleased, .seed = 1, .time_limit = 100ms});
  SimulatedService service(kUnleased);
  const History history = run_main(workload, 1, [&service](const Event& event) {
    Outcome outcome = service(event);
    outcome.latency = 300ms;  // the answer comes when the time is over
    return outcome;
  });
  const auto processes = by_process(history);
  EXPECT_THAT(processes.at(0).names(), ElementsAre("acquire", "read", "write", "release"));
}

TEST(LockWorkload, ANewProcessKnowsNothingOfTheOld) {
  const Workload workload = lock_workload({.system = &kLeased, .seed = 1, .time_limit = 3s});
  SimulatedService service(kLeased);
  const History history = run_main(workload, 2, [&service](const Event& event) {
    Outcome outcome = service(event);
    if (event.f == "write" && event.process == Process{0}) outcome.type = EventType::info;
    return outcome;
  });
  auto did = by_process(history);
  ASSERT_TRUE(did.contains(0) && did.contains(2));
  EXPECT_EQ(did[0].names().back(), "write");
  EXPECT_EQ(did[2].names().front(), "acquire");
  EXPECT_GT(did[2].operations.size(), 10U);
}

TEST(LockWorkload, InTheFinalPhaseEveryProcessTakesEveryLockOnce) {
  const Workload workload = lock_workload({.system = &kLeased, .seed = 1, .locks = 3});
  Simulated run = simulate(*workload.final_generator, {.lanes = 4, .perform = SimulatedService(kLeased)});
  EXPECT_TRUE(run.finished);
  EXPECT_LT(run.now, workload.final_limit);
  const History history(std::move(run.events));
  auto processes = by_process(history);
  ASSERT_EQ(processes.size(), 4U);
  for (const auto& [process, did] : processes) {
    std::multiset<std::string> taken;
    std::map<std::string, int> count;
    for (const Operation& operation : did.operations) {
      if (!operation.ok()) continue;
      ++count[operation.invoke->f];
      if (operation.invoke->f == "acquire") taken.insert(operation.invoke->key);
    }
    EXPECT_THAT(taken, ElementsAre("L1", "L2", "L3"));
    EXPECT_EQ(count, (std::map<std::string, int>{{"acquire", 3}, {"read", 3}, {"write", 3}, {"release", 3}}));
  }
}

TEST(LockWorkload, InTheFinalPhaseADeadLockIsTriedToTheEndAndHidesNoOther) {
  const Workload workload = lock_workload({.system = &kUnleased, .seed = 1, .locks = 3});
  SimulatedService service(kUnleased);
  service.occupy("L1");
  Simulated run = simulate(*workload.final_generator, {.lanes = 2, .perform = std::ref(service)});
  EXPECT_TRUE(run.finished);
  EXPECT_THAT(run.now, AllOf(Ge(2900ms), Le(3050ms)));
  const History history(std::move(run.events));
  std::map<std::string, int> granted;
  std::size_t refused = 0;
  for (const Operation& operation : all(history, "acquire")) {
    if (operation.ok()) ++granted[operation.invoke->key];
    refused += operation.failed() && operation.invoke->key == "L1" ? 1 : 0;
  }
  EXPECT_EQ(granted, (std::map<std::string, int>{{"L2", 2}, {"L3", 2}}));
  EXPECT_GT(refused, 200U) << "two processes, 3 s, one attempt in about 15 ms";
}

std::string as_text(std::uint64_t seed) {
  const Workload workload = lock_workload({.system = &kLeased, .seed = seed, .time_limit = 2s, .locks = 3});
  std::string text;
  const History history = run_main(workload, 4, SimulatedService(kLeased));
  for (const Event& event : history.events()) text += to_json_line(event) + "\n";
  return text;
}

TEST(LockWorkload, SameSeedSameHistoryOtherSeedAnother) {
  const std::string once = as_text(1);
  EXPECT_EQ(once, as_text(1));
  EXPECT_NE(once, as_text(2));
}

TEST(LockWorkload, WhatAProcessDrawsDoesNotDependOnTheOthers) {
  const auto locks_of_process_0 = [](std::size_t lanes) {
    const Workload workload = lock_workload({.system = &kLeased, .seed = 5, .time_limit = 3s, .locks = 100});
    const History history = run_main(workload, lanes, SimulatedService(kLeased));
    std::vector<std::string> locks;
    const auto processes = by_process(history);
    for (const Operation& operation : processes.at(0).operations) {
      if (operation.invoke->f == "read") locks.push_back(operation.invoke->key);
    }
    locks.resize(std::min<std::size_t>(locks.size(), 20));
    return locks;
  };
  const std::vector<std::string> alone = locks_of_process_0(1);
  ASSERT_EQ(alone.size(), 20U);
  EXPECT_EQ(alone, locks_of_process_0(2));
}

// The whole of it, judged: a sound lock is found sound, and one that lets everybody in is found out.
TEST(LockWorkload, ItsCheckersTellASoundLockFromABrokenOne) {
  for (const bool exclusive : {true, false}) {
    const Workload workload = lock_workload({.system = &kLeased, .seed = 1, .time_limit = 3s});
    SimulatedService service(kLeased);
    service.exclusive = exclusive;
    const History history = run_main(workload, 4, std::ref(service));
    auto verdict = verdicts(history, workload);
    const Validity wanted = exclusive ? Validity::valid : Validity::invalid;
    EXPECT_EQ(verdict.at("service"), wanted);
    EXPECT_EQ(verdict.at("clients"), wanted);
    EXPECT_EQ(verdict.at("resource"), wanted);
  }
}

}  // namespace
}  // namespace holdfast
