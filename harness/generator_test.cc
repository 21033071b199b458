#include "harness/generator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/history.h"
#include "harness/simulation.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

GeneratorPtr named(const std::string& f) {
  return repeat({.f = f, .key = {}, .value = nullptr});
}

template <typename... Generators>
std::vector<GeneratorPtr> in_order(Generators... generators) {
  std::vector<GeneratorPtr> list;
  (list.push_back(std::move(generators)), ...);
  return list;
}

std::vector<std::pair<double, GeneratorPtr>> even_mix(const std::vector<std::string>& names) {
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.reserve(names.size());
  for (const std::string& name : names) weighted.emplace_back(1.0, named(name));
  return weighted;
}

std::vector<Event> invocations(const Simulated& run) {
  std::vector<Event> found;
  std::copy_if(run.events.begin(), run.events.end(), std::back_inserter(found),
               [](const Event& event) { return event.type == EventType::invoke; });
  return found;
}

std::vector<std::string> names(const Simulated& run) {
  std::vector<std::string> found;
  for (const Event& event : invocations(run)) found.push_back(event.f);
  return found;
}

std::map<std::string, std::size_t> counts(const Simulated& run) {
  std::map<std::string, std::size_t> found;
  for (const Event& event : invocations(run)) ++found[event.f];
  return found;
}

// What each process did, in its order: the same for two runs in which only the timing differs.
std::map<std::int64_t, std::vector<std::string>> by_process(const Simulated& run) {
  std::map<std::int64_t, std::vector<std::string>> found;
  for (const Event& event : invocations(run)) found[number(event.process)].push_back(event.f);
  return found;
}

std::string as_text(const Simulated& run) {
  std::string text;
  for (const Event& event : run.events) text += to_json_line(event) + "\n";
  return text;
}

TEST(Generator, RepeatNeverEnds) {
  const GeneratorPtr generator = repeat({.f = "write", .key = "x", .value = {{"value", 7}}});
  for (int i = 0; i < 1000; ++i) {
    const Next next = generator->next({.now = Time(i)});
    ASSERT_EQ(next.kind, Next::Kind::operation);
    ASSERT_EQ(next.operation.f, "write");
    ASSERT_EQ(next.operation.key, "x");
    ASSERT_EQ(next.operation.value, Value({{"value", 7}}));
  }
}

TEST(Generator, FromFunctionSeesWhoAsksAndWhen) {
  const GeneratorPtr generator = from_function([](const Moment& moment) {
    if (moment.now < 10ms) return Next::wait_until(10ms);
    if (moment.now > 10ms) return Next::done();
    return Next::invoke(
        {.f = "read", .key = fmt::format("{} of {}", moment.lane, moment.lanes), .value = number(moment.process)});
  });
  const Simulated run = simulate(*generator, {.lanes = 2});
  ASSERT_EQ(invocations(run).size(), 2U);
  EXPECT_EQ(run.events[1].key, "1 of 2");
  EXPECT_EQ(run.events[1].value, 1);
  EXPECT_EQ(run.events[1].time, 10ms);
  EXPECT_TRUE(run.finished);
}

TEST(Generator, LimitCountsTheOperationsOfAllLanes) {
  const GeneratorPtr generator = limit(7, named("read"));
  const Simulated run = simulate(*generator, {.lanes = 3});
  EXPECT_EQ(invocations(run).size(), 7U);
  EXPECT_TRUE(run.finished);
  EXPECT_TRUE(simulate(*limit(0, named("read")), {.lanes = 3}).events.empty());
}

TEST(Generator, TimeLimitRunsFromTheFirstQuestion) {
  const GeneratorPtr generator =
      phases(in_order(limit(1, named("setup")), time_limit(10ms, named("read")),
                      time_limit(10ms, from_function([](const Moment&) { return Next::wait_until(Time::max()); }))));
  const Simulated run = simulate(*generator, {});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.now, 21ms) << "1 ms setup, 10 ms of reads, and a wait that is cut short after 10 ms";
  EXPECT_EQ(counts(run)["read"], 10U);
}

TEST(Generator, TimeLimitForEverDoesNotOverflow) {
  const GeneratorPtr generator = phases(in_order(limit(1, named("a")), time_limit(Time::max(), limit(2, named("b")))));
  EXPECT_THAT(names(simulate(*generator, {})), ElementsAre("a", "b", "b"));
}

TEST(Generator, MixKeepsTheWeights) {
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.emplace_back(3.0, named("read"));
  weighted.emplace_back(1.0, named("write"));
  weighted.emplace_back(0.0, named("never"));
  const GeneratorPtr generator = limit(20'000, mix(std::move(weighted), Rng(1)));
  auto count = counts(simulate(*generator, {.lanes = 4}));
  EXPECT_EQ(count["read"] + count["write"], 20'000U);
  EXPECT_THAT(count["read"], AllOf(Ge(14'700U), Le(15'300U)));
}

TEST(Generator, MixIsDoneWhenAllAreDone) {
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.emplace_back(1.0, limit(5, named("a")));
  weighted.emplace_back(100.0, limit(3, named("b")));
  const GeneratorPtr generator = mix(std::move(weighted), Rng(1));
  const Simulated run = simulate(*generator, {.lanes = 3});
  auto count = counts(run);
  EXPECT_EQ(count["a"], 5U);
  EXPECT_EQ(count["b"], 3U);
  EXPECT_TRUE(run.finished);
  EXPECT_TRUE(simulate(*mix({}, Rng(1)), {}).finished);
}

TEST(Generator, MixTellsAnOutcomeToTheOneWhoAskedForIt) {
  // Were a's outcomes shown to b as well, b would be satisfied before it ever got its turn.
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.emplace_back(50.0, limit(40, named("a")));
  weighted.emplace_back(1.0, until_ok(named("b")));
  const GeneratorPtr generator = mix(std::move(weighted), Rng(3));
  auto count = counts(simulate(*generator, {}));
  EXPECT_EQ(count["a"], 40U);
  EXPECT_EQ(count["b"], 1U);
}

TEST(Generator, MixAsksAgainForANewProcess) {
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.emplace_back(1.0, limit(20, named("a")));
  weighted.emplace_back(1.0, until_ok(named("b")));
  const GeneratorPtr generator = mix(std::move(weighted), Rng(3));
  int asked = 0;
  const Simulated run = simulate(*generator, {.perform = [&asked](const Event& invocation) {
    const bool unknown = invocation.f == "a" && ++asked == 19;
    return Outcome{.type = unknown ? EventType::info : EventType::ok};
  }});
  EXPECT_EQ(counts(run)["b"], 2U) << "once for process 0, once for process 1";
}

TEST(Generator, MixDrawsForALaneDoNotDependOnTheTimingOfOthers) {
  const auto with_latency = [](Time latency_of_lane_0) {
    const GeneratorPtr generator = mix(even_mix({"a", "b", "c"}), Rng(7));
    return by_process(simulate(*generator, {.lanes = 3,
                                            .perform =
                                                [latency_of_lane_0](const Event& invocation) {
                                                  const bool first = invocation.process == Process{0};
                                                  return Outcome{.latency = first ? latency_of_lane_0 : 1ms};
                                                },
                                            .end = 200ms}));
  };
  auto quick = with_latency(1ms);
  auto slow = with_latency(17ms);
  EXPECT_EQ(quick[1], slow[1]);
  EXPECT_EQ(quick[2], slow[2]);
  EXPECT_NE(quick[1], quick[2]) << "each lane has a stream of its own";
  ASSERT_GT(quick[0].size(), slow[0].size());
  quick[0].resize(slow[0].size());
  EXPECT_EQ(quick[0], slow[0]);
}

TEST(Generator, StaggerSpreadsOperationsOverTime) {
  const GeneratorPtr generator = limit(2000, stagger(10ms, named("read"), Rng(1)));
  const Simulated run = simulate(*generator, {.lanes = 4});
  const std::vector<Event> sent = invocations(run);
  ASSERT_EQ(sent.size(), 2000U);
  EXPECT_EQ(sent.front().time, 0ms) << "the first does not wait";
  Time widest{};
  for (std::size_t i = 1; i < sent.size(); ++i) widest = std::max(widest, sent[i].time - sent[i - 1].time);
  EXPECT_LE(widest, 20ms);
  EXPECT_GT(widest, 18ms);
  EXPECT_THAT(sent.back().time, AllOf(Ge(19s), Le(21s))) << "10 ms in the mean";
}

TEST(Generator, StaggerServesAllLanesAlike) {
  const GeneratorPtr generator = limit(1000, stagger(10ms, named("read"), Rng(1)));
  const auto served = by_process(simulate(*generator, {.lanes = 5}));
  ASSERT_EQ(served.size(), 5U);
  for (const auto& [process, operations] : served) EXPECT_EQ(operations.size(), 200U) << "process " << process;
}

TEST(Generator, StaggerKeepsItsDistanceAfterTheInnerGeneratorWaited) {
  const GeneratorPtr generator =
      stagger(10ms, phases(in_order(limit(1, named("setup")), limit(400, named("read")))), Rng(5));
  const Simulated run = simulate(*generator, {.lanes = 8, .perform = [](const Event& invocation) {
                                                return Outcome{.latency = invocation.f == "setup" ? Time(1s) : 1ms};
                                              }});
  EXPECT_TRUE(run.finished);
  const std::vector<Event> sent = invocations(run);
  ASSERT_EQ(sent.size(), 401U);
  const Time first = sent[1].time;
  EXPECT_GE(first, 1s);
  EXPECT_LE(first, 1s + 200ms);
  std::size_t bunched = 0;
  for (std::size_t i = 2; i < 10; ++i) bunched += sent[i].time - sent[i - 1].time < 10us ? 1 : 0;
  EXPECT_EQ(bunched, 0U) << "eight lanes whose slots had passed did not start at once";
  EXPECT_THAT(sent.back().time - first, AllOf(Ge(3500ms), Le(4600ms)));
}

TEST(Generator, StaggerOfNothingIsNoDelay) {
  const GeneratorPtr generator = limit(100, stagger(0ms, named("read"), Rng(1)));
  EXPECT_EQ(simulate(*generator, {.lanes = 2}).now, 50ms);
}

TEST(Generator, PhasesBeginWhenEveryLaneIsDoneAndIdle) {
  const GeneratorPtr generator = phases(in_order(limit(10, named("a")), limit(4, named("b")), limit(10, named("c"))));
  int sent = 0;
  const Simulated run = simulate(*generator, {.lanes = 3, .perform = [&sent](const Event&) {
                                                const bool straggler = ++sent == 9;  // of the first phase's ten
                                                return Outcome{.latency = straggler ? Time(3s) : 1ms};
                                              }});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(counts(run), (std::map<std::string, std::size_t>{{"a", 10}, {"b", 4}, {"c", 10}}));
  std::string latest = "a";
  std::size_t open = 0;
  for (const Event& event : run.events) {
    if (event.f != latest) {
      EXPECT_EQ(open, 0U) << event.f << " begins while an operation of " << latest << " is open";
      EXPECT_GT(event.f, latest);
      latest = event.f;
    }
    open = event.type == EventType::invoke ? open + 1 : open - 1;
  }
  EXPECT_GE(run.now, 3s);
  EXPECT_LE(run.now, 3s + 50ms);
}

TEST(Generator, PhasesGoOnWhenTheNextOneHasNothingForTheLastLane) {
  // Lane 1 ends the first phase, gets nothing in the second, and so causes nothing that lane 0 could observe.
  std::vector<std::pair<std::size_t, GeneratorPtr>> first_lane;
  first_lane.emplace_back(1, limit(2, named("b")));
  const GeneratorPtr generator = phases(
      in_order(reserve({}, limit(2, named("a"))), reserve(std::move(first_lane), nullptr), limit(1, named("c"))));
  const Simulated run = simulate(*generator, {.lanes = 2, .perform = [](const Event& invocation) {
                                                return Outcome{.latency = invocation.process == Process{1} ? 9ms : 1ms};
                                              }});
  EXPECT_TRUE(run.finished);
  EXPECT_THAT(names(run), ElementsAre("a", "a", "b", "b", "c"));
}

TEST(Generator, PhasesSurviveARetiredProcess) {
  const GeneratorPtr generator = phases(in_order(limit(4, named("a")), limit(4, named("b"))));
  const Simulated run =
      simulate(*generator, {.lanes = 2, .perform = [](const Event&) { return Outcome{.type = EventType::info}; }});
  EXPECT_TRUE(run.finished);
  EXPECT_THAT(names(run), ElementsAre("a", "a", "a", "a", "b", "b", "b", "b"));
}

TEST(Generator, ReserveGivesLanesByNumber) {
  std::vector<std::pair<std::size_t, GeneratorPtr>> counted;
  counted.emplace_back(1, named("admin"));
  counted.emplace_back(2, named("write"));
  const GeneratorPtr generator = reserve(std::move(counted), named("read"));
  const Simulated run = simulate(*generator, {.lanes = 5, .end = 20ms});
  const std::map<std::int64_t, std::string> wanted = {
      {0, "admin"}, {1, "write"}, {2, "write"}, {3, "read"}, {4, "read"}};
  const auto done = by_process(run);
  ASSERT_EQ(done.size(), wanted.size());
  for (const auto& [process, operations] : done) {
    EXPECT_THAT(operations, ::testing::Each(wanted.at(process)));
    EXPECT_GT(operations.size(), 10U);
  }
}

TEST(Generator, ReserveLetsEachGroupHavePhasesOfItsOwn) {
  std::vector<std::pair<std::size_t, GeneratorPtr>> counted;
  counted.emplace_back(2, phases(in_order(limit(4, named("a")), limit(4, named("b")))));
  counted.emplace_back(9, limit(6, named("c")));
  const GeneratorPtr generator = reserve(std::move(counted), named("nobody is left for this"));
  const Simulated run = simulate(*generator, {.lanes = 4});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(counts(run), (std::map<std::string, std::size_t>{{"a", 4}, {"b", 4}, {"c", 6}}));
}

TEST(Generator, EachProcessStartsAfreshAndForgetsTheRetired) {
  std::size_t alive = 0;
  std::vector<std::int64_t> made;
  const GeneratorPtr generator = each_process([&](const Moment& moment) {
    made.push_back(number(moment.process));
    const auto token = std::shared_ptr<void>(nullptr, [&alive](void*) { --alive; });
    ++alive;
    return limit(3, from_function([token, sent = 0](const Moment&) mutable {
                   return Next::invoke({.f = "write", .key = {}, .value = ++sent});
                 }));
  });
  const Simulated run = simulate(*generator, {.lanes = 2, .perform = [](const Event& invocation) {
                                                const bool unknown =
                                                    invocation.process == Process{1} && invocation.value == 2;
                                                return Outcome{.type = unknown ? EventType::info : EventType::ok};
                                              }});
  EXPECT_TRUE(run.finished);
  EXPECT_THAT(made, ElementsAre(0, 1, 3));
  EXPECT_EQ(alive, 2U) << "the generator of process 1 is gone";
  std::map<std::int64_t, std::vector<int>> sent;
  for (const Event& event : invocations(run)) sent[number(event.process)].push_back(event.value.get<int>());
  EXPECT_THAT(sent[0], ElementsAre(1, 2, 3));
  EXPECT_THAT(sent[1], ElementsAre(1, 2));
  EXPECT_THAT(sent[3], ElementsAre(1, 2, 3));
}

TEST(Generator, EachProcessMayHavePhasesOfItsOwn) {
  const GeneratorPtr generator = each_process([](const Moment&) {
    return phases(in_order(until_ok(named("connect")), limit(2, named("read")), limit(1, named("close"))));
  });
  const Simulated run = simulate(*generator, {.lanes = 3, .perform = [](const Event& invocation) {
                                                return Outcome{.latency = 1ms * (1 + number(invocation.process))};
                                              }});
  EXPECT_TRUE(run.finished);
  const auto done = by_process(run);
  ASSERT_EQ(done.size(), 3U);
  for (const auto& [process, operations] : done) {
    EXPECT_THAT(operations, ElementsAre("connect", "read", "read", "close")) << "process " << process;
  }
}

TEST(Generator, UntilOkStopsEachProcessAfterItsFirstOk) {
  const GeneratorPtr generator = until_ok(named("acquire"));
  std::map<std::int64_t, int> attempts;
  const Simulated run = simulate(
      *generator, {.lanes = 3, .perform = [&attempts](const Event& invocation) {
                     const std::int64_t process = number(invocation.process);
                     const int attempt = ++attempts[process];
                     if (process == 2 && attempt == 2) return Outcome{.type = EventType::info};
                     Outcome outcome{.type = attempt > process ? EventType::ok : EventType::fail};
                     outcome.notes = {{.after = 100us, .f = "step", .value = nullptr}};  // a note is no outcome
                     return outcome;
                   }});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(attempts, (std::map<std::int64_t, int>{{0, 1}, {1, 2}, {2, 2}, {5, 6}}));
}

// A nest of everything, as a workload would use it.
GeneratorPtr nest(std::uint64_t seed) {
  const Rng rng(seed);
  std::vector<std::pair<double, GeneratorPtr>> weighted;
  weighted.emplace_back(2.0, named("read"));
  weighted.emplace_back(1.0, limit(30, named("write")));
  weighted.emplace_back(1.0, each_process([rng](const Moment& moment) {
                          return limit(5, mix(even_mix({"p", "q"}),
                                              rng.split("each", static_cast<std::uint64_t>(number(moment.process)))));
                        }));
  std::vector<std::pair<std::size_t, GeneratorPtr>> counted;
  counted.emplace_back(1, stagger(20ms, named("admin"), rng.split("admin")));
  return phases(in_order(
      limit(3, named("setup")),
      time_limit(2s, reserve(std::move(counted), stagger(3ms, mix(std::move(weighted), rng.split("mix")), rng))),
      until_ok(named("check"))));
}

Simulated run_nest(std::uint64_t seed) {
  return simulate(*nest(seed), {.lanes = 5, .perform = [rng = Rng(99)](const Event&) mutable {
                                  Outcome outcome{.latency = Time(rng.below(4'000'000))};
                                  if (rng.chance(0.02)) outcome.type = EventType::info;
                                  return outcome;
                                }});
}

TEST(Generator, NestsAndEnds) {
  const Simulated run = run_nest(1);
  EXPECT_TRUE(run.finished);
  auto count = counts(run);
  EXPECT_EQ(count["setup"], 3U);
  EXPECT_EQ(count["write"], 30U);
  EXPECT_GE(count["check"], 5U);
  EXPECT_THAT(count["admin"], AllOf(Ge(70U), Le(130U)));
  EXPECT_GT(count["read"], 300U);
  EXPECT_GE(count["p"] + count["q"], 20U);
  EXPECT_THAT(run.now, AllOf(Ge(2s), Le(2100ms)));
  EXPECT_GT(History(run.events).operations().size(), 400U) << "and it is a history";
}

TEST(Generator, SameSeedSameOperationsOtherSeedOthers) {
  const std::string once = as_text(run_nest(1));
  EXPECT_EQ(once, as_text(run_nest(1)));
  std::set<std::string> different = {once};
  for (std::uint64_t seed = 2; seed < 10; ++seed) different.insert(as_text(run_nest(seed)));
  EXPECT_EQ(different.size(), 9U);
}

}  // namespace
}  // namespace holdfast
