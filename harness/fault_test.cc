#include "harness/fault.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

Event nemesis_event(std::uint64_t index, std::string f, const char* value) {
  Event event;
  event.index = index;
  event.type = EventType::info;
  event.process = Process::nemesis;
  event.f = std::move(f);
  event.value = Value::parse(value);
  event.time = std::chrono::milliseconds(index * 10);
  return event;
}

std::vector<FaultRecord> records(std::vector<Event> events) {
  return fault_records(History(std::move(events)));
}

TEST(FaultRecords, ReadsAPausedClientFromStartToEnd) {
  const auto faults = records({
      nemesis_event(1, "pause", R"({"fault":3,"phase":"start","plan":"pause:holder@reading",
          "target":{"process":7,"lane":2,"node":"c3"},"effective":true,"evidence":{"state":"T"}})"),
      nemesis_event(2, "pause", R"({"fault":3,"phase":"end","effective":true,"healed":true,"evidence":{"state":"S"}})"),
  });
  ASSERT_EQ(faults.size(), 1U);
  const FaultRecord& fault = faults[0];
  EXPECT_EQ(fault.id, 3U);
  EXPECT_EQ(fault.kind, "pause");
  EXPECT_EQ(fault.start, std::chrono::milliseconds(10));
  EXPECT_EQ(fault.end, std::chrono::milliseconds(20));
  EXPECT_EQ(fault.start_event, 1U);
  EXPECT_EQ(fault.end_event, 2U);
  EXPECT_EQ(fault.process, Process{7});
  EXPECT_EQ(fault.nodes, std::vector<std::string>{"c3"});
  EXPECT_FALSE(fault.server);
  EXPECT_TRUE(fault.effective);
  EXPECT_TRUE(fault.healed);
  EXPECT_EQ(fault.evidence["start"]["state"], "T");
  EXPECT_EQ(fault.evidence["end"]["state"], "S");
}

TEST(FaultRecords, ReadsServersAndLinks) {
  const auto faults = records({
      nemesis_event(1, "kill", R"({"fault":1,"phase":"start","target":{"node":"n1","server":true},"effective":true})"),
      nemesis_event(2, "partition", R"({"fault":2,"phase":"start",
          "target":{"links":[["c1","n1"],["n1","c1"]],"nodes":["c1","n1"]},"effective":false})"),
      nemesis_event(3, "partition", R"({"fault":2,"phase":"end","effective":true,"healed":false})"),
  });
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_TRUE(faults[0].server);
  EXPECT_FALSE(faults[0].process.has_value());
  EXPECT_EQ(faults[0].end, Time::max());
  EXPECT_FALSE(faults[0].healed);
  EXPECT_EQ(faults[1].nodes, (std::vector<std::string>{"c1", "n1"}));
  EXPECT_TRUE(faults[1].effective) << "packets dropped later prove it";
  EXPECT_FALSE(faults[1].healed);
}

TEST(FaultRecords, WhatCouldNotBeInjectedIsNotEffective) {
  const auto faults = records({nemesis_event(1, "pause", R"({"fault":1,"phase":"start","error":"client is gone"})")});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_FALSE(faults[0].effective);
  EXPECT_TRUE(faults[0].healed);
  EXPECT_EQ(faults[0].end, faults[0].start);
  EXPECT_EQ(faults[0].evidence["error"], "client is gone");
}

TEST(FaultRecords, OddEventsOfTheNemesisAreNoFaults) {
  EXPECT_TRUE(records({nemesis_event(1, "note", "null"), nemesis_event(2, "pause", R"({"phase":"start"})"),
                       nemesis_event(3, "pause", R"({"fault":9,"phase":"end","healed":true})")})
                  .empty());
}

}  // namespace
}  // namespace holdfast
