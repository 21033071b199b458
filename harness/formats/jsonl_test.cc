#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/error.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {
namespace {

RecordedHistory read(const std::string& text, bool tuple_keys = false) {
  return read_recorded_text(text, "h.jsonl", {.format = Format::jsonl, .tuple_keys = tuple_keys});
}

std::string complaint(const std::string& text, bool tuple_keys = false) {
  try {
    static_cast<void>(read(text, tuple_keys));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

const std::string kInvoke = R"({"index":0,"type":"invoke","process":0,"f":"read","value":null,"time":5})"
                            "\n";

TEST(Jsonl, FieldsArriveWhereTheyBelong) {
  const RecordedHistory history = read(
      R"({"index":0,"type":"invoke","process":3,"f":"acquire","key":"L1","value":{"hold":12,"lease_ms":600},"time":0})"
      "\n"
      R"({"time":129383,"node":"c2","value":{"token":17},"key":"L1","f":"acquire","process":3,"type":"ok","index":1})"
      "\n"
      R"({"index":2,"type":"invoke","process":3,"f":"release","key":"L1","value":{"hold":12},"time":129384,"new":[1]})"
      "\n"
      R"({"index":3,"type":"fail","process":3,"f":"release","key":"L1","value":null,"time":129385,"error":"not-held"})"
      "\n");
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history.operations, 2U);
  EXPECT_EQ(history[0].type, EventType::invoke);
  EXPECT_EQ(history[0].process, 3);
  EXPECT_EQ(history.text(history[0].f), "acquire");
  EXPECT_EQ(history.text(history[0].key), "L1");
  EXPECT_EQ(history[0].hold, 12U);
  EXPECT_EQ(history.lease_ms(history[0]), 600);
  EXPECT_EQ(history[0].time, 0);
  EXPECT_EQ(history[1].type, EventType::ok);
  EXPECT_EQ(history.token(history[1]), 17);
  EXPECT_EQ(history[1].hold, kNoHold);
  EXPECT_EQ(history[1].time, 129383);
  EXPECT_EQ(history.text(history[3].error), "not-held");
  EXPECT_EQ(history[3].type, EventType::fail);
  EXPECT_EQ(history[2].error, kNoText);
  EXPECT_TRUE(history.timed);
  EXPECT_TRUE(history.time_ordered);
}

TEST(Jsonl, ValuesOfEveryShape) {
  const std::pair<const char*, const char*> values[] = {{"null", "null"},
                                                        {"true", "true"},
                                                        {"-7", "-7"},
                                                        {"0.25", "0.25"},
                                                        {R"("ü\n")", R"("ü\n")"},
                                                        {"[3,1]", "[3,1]"},
                                                        {"[]", "[]"},
                                                        {"[1,[2,{}]]", "[1,[2,{}]]"},
                                                        {R"({"a":{"hold":1}})", R"({"a":{"hold":1}})"},
                                                        {R"({"a":1,"a":2})", R"({"a":1,"a":2})"},
                                                        {"18446744073709551615", R"("18446744073709551615")"},
                                                        {"9223372036854775807", "9223372036854775807"}};
  for (const auto& [written, meant] : values) {
    const RecordedHistory history =
        read(R"({"type":"invoke","process":0,"f":"x","value":)" + std::string(written) + "}\n");
    EXPECT_EQ(history.describe(history[0].value), meant);
    EXPECT_FALSE(history.timed);
    EXPECT_EQ(history[0].hold, kNoHold) << "a hold within is not the event's";
  }
}

TEST(Jsonl, NotesNeitherOpenNorClose) {
  const RecordedHistory history =
      read(kInvoke + R"({"type":"info","process":0,"f":"renewed","value":{"hold":4},"time":6})" +
           "\n"
           R"({"type":"ok","process":0,"f":"read","value":1,"time":4})" +
           "\n");
  ASSERT_EQ(history.size(), 3U);
  EXPECT_FALSE(history[0].note);
  EXPECT_TRUE(history[1].note);
  EXPECT_EQ(history[1].type, EventType::info);
  EXPECT_EQ(history[1].hold, 4U);
  EXPECT_EQ(history.operations, 1U);
  EXPECT_FALSE(history.time_ordered) << "6, then 4";
}

TEST(Jsonl, TheNemesisIsKeptOut) {
  const RecordedHistory history = read(R"({"type":"info","process":"nemesis","f":"pause","value":1,"time":1})"
                                       "\n" +
                                       kInvoke);
  EXPECT_EQ(history.size(), 1U);
  EXPECT_EQ(history.kept_out, 1U);
  EXPECT_EQ(history.ordinal(0), 1U);
}

TEST(Jsonl, KeysMayBeNumbersOrStandInTheValue) {
  const RecordedHistory named = read(R"({"type":"invoke","process":0,"f":"x","key":17})"
                                     "\n");
  EXPECT_EQ(named.text(named[0].key), "17");
  const RecordedHistory tuples = read(R"({"type":"invoke","process":0,"f":"x","value":[4,[1,2]]})"
                                      "\n"
                                      R"({"type":"ok","process":0,"f":"x","value":["k",{"hold":3,"token":9}]})"
                                      "\n"
                                      R"({"type":"invoke","process":0,"f":"x","value":[7,null],"key":"own"})"
                                      "\n"
                                      R"({"type":"info","process":0,"f":"x"})"
                                      "\n",
                                      true);
  EXPECT_EQ(tuples.text(tuples[0].key), "4");
  EXPECT_EQ(tuples.describe(tuples[0].value), "[1,2]");
  EXPECT_EQ(tuples.text(tuples[1].key), "k");
  EXPECT_EQ(tuples[1].hold, 3U);
  EXPECT_EQ(tuples.token(tuples[1]), 9);
  EXPECT_EQ(tuples.text(tuples[2].key), "own");
  EXPECT_EQ(tuples.describe(tuples[2].value), "[7,null]");
  EXPECT_EQ(tuples[3].key, kNoText);
  EXPECT_EQ(complaint(kInvoke, true),
            "h.jsonl line 1 column 1: the value is null, neither a [key value] pair nor is there a \"key\"; check it "
            "without partitioning by key");
}

TEST(Jsonl, ComplaintsNameLineColumnAndFix) {
  const auto after = [](const std::string& line) { return complaint(kInvoke + "\n" + line + "\n"); };
  EXPECT_EQ(after(R"({"type":oops})"), "h.jsonl line 3 column 9: not JSON; a history has one JSON object per line");
  EXPECT_EQ(after("[1]"),
            "h.jsonl line 3 column 1: not a JSON object; a history has one event per line, each an object");
  EXPECT_EQ(after(R"({"type":"good","process":1,"f":"x"})"),
            R"(h.jsonl line 3 column 2: "type" is "good"; it must be "invoke", "ok", "fail" or "info")");
  EXPECT_EQ(after(R"({"type":"ok","process":-1,"f":"x"})"),
            "h.jsonl line 3 column 14: process -1; number the processes from 0 to 2147483647");
  EXPECT_EQ(after(R"({"type":"ok","process":1.5,"f":"x"})"),
            "h.jsonl line 3 column 14: process 1.5; number the processes from 0 to 2147483647");
  EXPECT_EQ(after(R"({"type":"ok","process":1,"f":7})"), R"(h.jsonl line 3 column 26: "f" is 7; it must be a string)");
  EXPECT_EQ(after(R"({"type":"ok","process":1,"f":"x","time":"noon"})"),
            R"(h.jsonl line 3 column 34: "time" is "noon"; it must be nanoseconds, a whole number below 2^63)");
  EXPECT_EQ(after(R"({"type":"ok","process":1,"f":"x","value":{"hold":"a"}})"),
            R"(h.jsonl line 3 column 34: the hold is "a"; number the holds from 0 to 4294967294)");
  EXPECT_EQ(after(R"({"type":"ok","f":"x"})"),
            R"(h.jsonl line 3 column 1: "process" is missing; every event needs its process)");
  EXPECT_EQ(after(R"({"process":1,"f":"x"})"),
            R"(h.jsonl line 3 column 1: "type" is missing; every event needs its type (invoke, ok, fail or info))");
  EXPECT_EQ(after(R"({"process":1,"type":"ok"})"),
            R"(h.jsonl line 3 column 1: "f" is missing; every event needs its function)");
  EXPECT_THAT(after("{\"process\":1,\"f\":\"\xFF\"}"), testing::StartsWith("h.jsonl line 3 column 19: not JSON"));
  EXPECT_THAT(after(R"({"value":123456789012345678901234567890})"),
              testing::StartsWith("h.jsonl line 3 column 1: not JSON ("));
}

TEST(Jsonl, WhatCannotHaveHappenedIsRefused) {
  EXPECT_EQ(
      complaint(kInvoke + R"({"type":"invoke","process":0,"f":"write"})" + "\n"),
      R"(h.jsonl line 2 column 1: process 0 invokes "write" while its "read" (event 0) is still open; a process does )"
      "one thing at a time");
  const std::string not_invoked =
      R"(h.jsonl line 2 column 1: process 1 completes "read", which it has not invoked; a completion needs its invocation)";
  EXPECT_EQ(complaint(kInvoke + R"({"type":"ok","process":1,"f":"read"})" + "\n"), not_invoked);
  EXPECT_THAT(complaint(kInvoke + R"({"type":"info","process":0,"f":"write"})" + "\n"),
              testing::HasSubstr("process 0 completes \"write\", which it has not invoked"));
  const std::string far = R"({"type":"invoke","process":2147483647,"f":"read"})"
                          "\n";
  EXPECT_THAT(complaint(far + far), testing::HasSubstr("process 2147483647 invokes"));
}

TEST(Jsonl, DepthIsLimited) {
  const auto nested = [](std::size_t levels) {
    return R"({"type":"invoke","process":0,"f":"x","value":)" + std::string(levels, '[') + "0" +
           std::string(levels, ']') + "}\n";
  };
  EXPECT_EQ(complaint(nested(199)), "no complaint");
  EXPECT_EQ(complaint(nested(200)), "h.jsonl line 1 column 1: nested deeper than 200 levels; no operation needs that");
  EXPECT_THAT(complaint(nested(100'000)), testing::HasSubstr("nested deeper than 200 levels"));
}

TEST(Jsonl, OnlyALastLineWithoutItsNewlineMayBeCut) {
  const RecordedHistory cut = read(kInvoke + R"({"index":1,"type":"o)");
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.size(), 1U);
  EXPECT_FALSE(read(kInvoke).truncated);
  EXPECT_THAT(complaint(kInvoke + R"({"index":1,"type":"o)" + "\n"), testing::StartsWith("h.jsonl line 2 column"));
  EXPECT_THAT(complaint(kInvoke + "garbage"), testing::StartsWith("h.jsonl line 2 column 1: not JSON"));
}

}  // namespace
}  // namespace holdfast::formats
