#include "nemesis/plan.h"

#include <gmock/gmock.h>

#include "harness/error.h"
#include "nemesis/links.h"
#include "nemesis/registry.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

const SystemEntry& stepping_system() {
  static const SystemEntry system{.name = "stepping", .steps = {"setnx-done"}};
  return system;
}

std::string why_not(const std::string& text) {
  try {
    parse_fault_plan(text, stepping_system());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "it was taken";
}

TEST(FaultPlan, FillsInDefaults) {
  EXPECT_EQ(to_string(parse_fault_plan("pause", stepping_system())), "pause:holder@reading");
  EXPECT_EQ(to_string(parse_fault_plan("kill", stepping_system())), "kill:holder@acquired");
  EXPECT_EQ(to_string(parse_fault_plan("kill:server", stepping_system())), "kill:server@acknowledged");
  EXPECT_EQ(to_string(parse_fault_plan("partition:halves", stepping_system())), "partition:halves@time");
  EXPECT_EQ(to_string(parse_fault_plan("partition:c1>n1+n1-c2", stepping_system())), "partition:c1>n1+n1-c2@time");
  EXPECT_EQ(to_string(parse_fault_plan("kill:holder@step:setnx-done", stepping_system())),
            "kill:holder@step:setnx-done");
}

TEST(FaultPlan, EveryRowOfTheTableCanBeTypedAndReadBack) {
  for (const FaultEntry& entry : faults()) {
    for (const FaultTarget& target : entry.targets) {
      const std::string text = std::string(entry.name) + ":" + std::string(target.name);
      const std::string full = to_string(parse_fault_plan(text, stepping_system()));
      EXPECT_EQ(to_string(parse_fault_plan(full, stepping_system())), full);
      EXPECT_NE(entry.make(std::string(target.name)), nullptr);
    }
  }
}

TEST(FaultPlan, NoneIsNoPlan) {
  EXPECT_TRUE(parse_fault_plans({"none"}, stepping_system()).empty());
}

TEST(FaultPlan, SaysWhatItDoesNotKnow) {
  EXPECT_THAT(why_not("pauze"), HasSubstr("did you mean pause"));
  EXPECT_THAT(why_not("pause:hold"), HasSubstr("holder"));
  EXPECT_THAT(why_not("pause@read"), HasSubstr("reading"));
  EXPECT_THAT(why_not("kill@step:setnx"), HasSubstr("setnx-done"));
  EXPECT_THAT(why_not("kill:holder@time"), HasSubstr("@acquired"));
  EXPECT_THAT(why_not(""), HasSubstr("unknown fault"));
}

TEST(FaultPlan, FaultsOfTheNetworkTakeParameters) {
  for (const char* text : {"delay:holder/80ms@acquired", "delay:ring/80ms~20ms,tail@time", "loss:c1>n1/12.5%@time",
                           "duplicate:server/100%@time", "reorder:server/25%,5ms@time", "corrupt:halves/1%,unseen@time",
                           "rate:mute/64kbit@time", "flapping:bridge/200ms@time", "reset:with-primary@acquired"}) {
    EXPECT_EQ(to_string(parse_fault_plan(text, stepping_system())), text);
  }
  EXPECT_THAT(why_not("delay:holder/80"), HasSubstr("80ms"));
  EXPECT_THAT(why_not("delay:holder/1ms,bell"), HasSubstr("normal"));
  EXPECT_THAT(why_not("delay:holder/1ms,tail,x"), HasSubstr("too many"));
  EXPECT_THAT(why_not("delay:holder/0ms"), HasSubstr("between"));
  EXPECT_THAT(why_not("loss:holder/0.3"), HasSubstr("30%"));
  EXPECT_THAT(why_not("loss:holder/130%"), HasSubstr("100%"));
  EXPECT_THAT(why_not("loss:holder/"), HasSubstr("percentage"));
  EXPECT_THAT(why_not("rate:holder/fast"), HasSubstr("64kbit"));
  EXPECT_THAT(why_not("corrupt:holder/5%,seen"), HasSubstr("unseen"));
  EXPECT_THAT(why_not("reset:holder/5%"), HasSubstr("too many"));
  EXPECT_THAT(why_not("pause:holder/5ms"), HasSubstr("unknown target"));
  EXPECT_THAT(why_not("delay:holder/80ms@time"), HasSubstr("@acquired"));
  EXPECT_THAT(why_not("delay:c1>/80ms"), HasSubstr("no link"));
}

TEST(FaultPlan, IsSetOffByItsEventOnly) {
  const auto event = [](EventType type, const char* f) { return Event{.type = type, .f = f}; };
  const FaultPlan acquired = parse_fault_plan("kill:holder@acquired", stepping_system());
  EXPECT_TRUE(sets_off(acquired, event(EventType::ok, "acquire")));
  EXPECT_FALSE(sets_off(acquired, event(EventType::invoke, "acquire")));
  EXPECT_FALSE(sets_off(acquired, event(EventType::fail, "acquire")));
  const FaultPlan reading = parse_fault_plan("pause", stepping_system());
  EXPECT_TRUE(sets_off(reading, event(EventType::ok, "read")));
  const FaultPlan step = parse_fault_plan("kill@step:setnx-done", stepping_system());
  Event announced = event(EventType::info, "step");
  announced.value = {{"step", "setnx-done"}};
  EXPECT_TRUE(sets_off(step, announced));
  announced.value = {{"step", "other"}};
  EXPECT_FALSE(sets_off(step, announced));
  EXPECT_FALSE(sets_off(parse_fault_plan("pause:server", stepping_system()), event(EventType::ok, "acquire")));
}

TEST(Links, AnyGrudgeCanBeWritten) {
  EXPECT_EQ(parse_links("c1>n1"), (std::vector<CutLink>{{"c1", "n1"}}));
  EXPECT_EQ(parse_links("c1-n1+n1>c2"), (std::vector<CutLink>{{"c1", "n1"}, {"n1", "c1"}, {"n1", "c2"}}));
  for (const char* text : {"", "c1", "c1>", ">n1", "c1-n1+", "+"}) EXPECT_THROW(parse_links(text), UsageError) << text;
}

}  // namespace
}  // namespace holdfast
