#include "harness/simulation.h"

#include <gtest/gtest.h>

#include "harness/error.h"
#include "harness/history.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(Simulation, TakesTheTimeOfTheOperationsAndNoMore) {
  const GeneratorPtr generator = limit(3, repeat({.f = "read", .key = "x", .value = nullptr}));
  const Simulated run = simulate(*generator, {.perform = [](const Event&) { return Outcome{.latency = 20ms}; }});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.now, 60ms);
  ASSERT_EQ(run.events.size(), 6U);
  EXPECT_EQ(run.events[4].time, 40ms);
  EXPECT_EQ(run.events[4].type, EventType::invoke);
  EXPECT_EQ(run.events[5].time, 60ms);
  EXPECT_EQ(run.events[5].type, EventType::ok);
  EXPECT_EQ(run.events[5].key, "x");
}

TEST(Simulation, RetiresTheProcessWhoseOutcomeIsUnknown) {
  const GeneratorPtr generator = limit(6, repeat({.f = "write", .key = "x", .value = 1}));
  const Simulated run = simulate(
      *generator, {.lanes = 2, .perform = [](const Event& invocation) {
                     return Outcome{.type = invocation.process == Process{1} ? EventType::info : EventType::fail,
                                    .error = "timeout"};
                   }});
  std::vector<std::int64_t> processes;
  for (const Event& event : run.events) {
    if (event.type == EventType::invoke) processes.push_back(number(event.process));
  }
  EXPECT_EQ(processes, (std::vector<std::int64_t>{0, 1, 0, 3, 0, 3}));
  EXPECT_EQ(History(run.events).operations().size(), 6U);
}

TEST(Simulation, DeliversNotesToTheLiving) {
  const GeneratorPtr generator = limit(2, repeat({.f = "acquire", .key = "L1", .value = nullptr}));
  const Simulated run = simulate(*generator, {.perform = [](const Event& invocation) {
    Outcome outcome;
    outcome.type = invocation.index == 0 ? EventType::info : EventType::ok;
    outcome.notes = {{.after = 1us, .f = "step", .value = {{"step", "asking"}}},
                     {.after = 5ms, .f = "lost", .value = {{"hold", 1}}}};
    return outcome;
  }});
  std::vector<std::string> said;
  said.reserve(run.events.size());
  for (const Event& event : run.events) said.push_back(event.f + "/" + std::to_string(number(event.process)));
  EXPECT_EQ(said, (std::vector<std::string>{"acquire/0", "step/0", "acquire/0", "acquire/1", "step/1", "acquire/1",
                                            "lost/1"}));
}

TEST(Simulation, StopsAtItsEndWhateverIsOpen) {
  const GeneratorPtr generator = repeat({.f = "read", .key = "x", .value = nullptr});
  const Simulated run = simulate(*generator, {.lanes = 3, .end = 10ms});
  EXPECT_FALSE(run.finished);
  EXPECT_LE(run.now, 10ms);
  EXPECT_EQ(History(run.events).operations().size(), 33U);
}

TEST(Simulation, RefusesAGeneratorThatWouldSpinOrHang) {
  const GeneratorPtr spins = from_function([](const Moment& moment) { return Next::wait_until(moment.now); });
  EXPECT_THROW(simulate(*spins, {}), Error);
  const GeneratorPtr hangs = from_function([](const Moment&) { return Next::wait_until(Time::max()); });
  EXPECT_THROW(simulate(*hangs, {}), Error);
}

}  // namespace
}  // namespace holdfast
