#include "harness/event.h"

#include <gtest/gtest.h>

#include "harness/error.h"

namespace holdfast {
namespace {

std::string complaint(std::string_view line) {
  try {
    static_cast<void>(parse_event(line));
  } catch (const Error& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(Event, RoundTrip) {
  const std::string lines[] = {
      R"({"index":0,"type":"invoke","process":3,"f":"acquire","key":"L1","value":{"hold":12,"lease_ms":600},"time":0})",
      R"({"index":7,"type":"ok","process":3,"f":"acquire","key":"L1","value":{"token":17},"time":129383,"node":"c2"})",
      R"({"index":8,"type":"fail","process":0,"f":"release","key":"L1","value":null,"time":129384,"error":"not-held"})",
      R"({"index":9,"type":"info","process":"nemesis","f":"pause","value":{"fault":3},"time":9223372036854775807})",
      R"({"index":18446744073709551615,"type":"info","process":1,"f":"x","value":[1,-2,0.5,true,"ü"],"time":1})",
  };
  for (const std::string& line : lines) EXPECT_EQ(to_json_line(parse_event(line)), line);
}

TEST(Event, FieldsArriveWhereTheyBelong) {
  const Event event = parse_event(
      R"({"time":5,"f":"read","type":"fail","process":2,"index":1,"error":{"code":4},"node":"n1","key":"k","value":6})");
  EXPECT_EQ(event.index, 1U);
  EXPECT_EQ(event.type, EventType::fail);
  EXPECT_EQ(number(event.process), 2);
  EXPECT_EQ(event.f, "read");
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.value, 6);
  EXPECT_EQ(event.time, Time(5));
  EXPECT_EQ(event.node, "n1");
  EXPECT_EQ(event.error, Value({{"code", 4}}));
  EXPECT_TRUE(event.extra.is_null());
  EXPECT_EQ(parse_event(R"({"index":1,"type":"ok","process":"nemesis","f":"kill","time":1})").process,
            Process::nemesis);
}

TEST(Event, UnknownFieldsSurvive) {
  const std::string line =
      R"({"index":1,"type":"ok","process":2,"f":"read","value":6,"time":5,"clock":[1,2],"debug info":{"a":"b"}})";
  const Event event = parse_event(line);
  EXPECT_EQ(event.extra.size(), 2U);
  EXPECT_EQ(to_json_line(event), line);
}

TEST(Event, KeysThatAreNoStringsBecomeText) {
  EXPECT_EQ(parse_event(R"({"index":1,"type":"ok","process":2,"f":"read","key":17,"time":5})").key, "17");
  EXPECT_EQ(parse_event(R"({"index":1,"type":"ok","process":2,"f":"read","key":null,"time":5})").key, "");
}

TEST(Event, WhatNeedsEscapingIsEscaped) {
  Event event;
  event.f = "quo\"te";
  event.key = "back\\slash\n";
  event.node = std::string("nul\0", 4);
  event.extra["\t"] = "\x7F";
  const Event back = parse_event(to_json_line(event));
  EXPECT_EQ(back.f, event.f);
  EXPECT_EQ(back.key, event.key);
  EXPECT_EQ(back.node, event.node);
  EXPECT_EQ(back.extra, event.extra);
  EXPECT_EQ(to_json_line(event).find('\n'), std::string::npos) << "one event is one line";
}

TEST(Event, BytesThatAreNotUtf8CanBeWrittenAndReadAgain) {
  const std::string bytes = "a\xFF\xC3(b";
  Event event;
  event.f = bytes;
  event.key = bytes;
  event.node = bytes;
  event.value = {{"text", bytes}};
  event.error = bytes;
  event.extra[bytes] = bytes;
  const Event back = parse_event(to_json_line(event));
  const std::string readable = "a\xEF\xBF\xBD\xEF\xBF\xBD(b";  // each bad byte became U+FFFD
  EXPECT_EQ(back.f, readable);
  EXPECT_EQ(back.key, readable);
  EXPECT_EQ(back.node, readable);
  EXPECT_EQ(back.value["text"], readable);
  EXPECT_EQ(back.error, readable);
  EXPECT_EQ(back.extra[readable], readable);
}

TEST(Event, BadLinesNameTheColumn) {
  EXPECT_EQ(complaint(R"({"index":1,"type":"ok",,)"), "column 24: not JSON");
  EXPECT_EQ(complaint(""), "column 1: not JSON");
  EXPECT_EQ(complaint("\xFF\xFE"), "column 1: not JSON");
  EXPECT_EQ(complaint("[1]"), "column 1: not a JSON object");
  EXPECT_EQ(complaint(R"({"index":1e999})"), "column 1: not JSON");
  EXPECT_EQ(complaint(R"({"index":1,"type":"maybe","process":2,"f":"read","time":5})"),
            R"(column 12: field "type" is "maybe"; it must be "invoke", "ok", "fail" or "info")");
  EXPECT_EQ(complaint(R"({"index":-1,"type":"ok"})"),
            R"(column 2: field "index" is -1; it must be a whole number from 0 on)");
  EXPECT_EQ(complaint(R"({"value":{"process":1},"index":1,"type":"ok","process" :-7,"f":"read","time":5})"),
            R"(column 46: field "process" is -7; it must be a whole number from 0 on, or "nemesis")");
  EXPECT_EQ(complaint(R"({"index":1,"type":"ok","process":2,"f":4,"time":5})"),
            R"(column 36: field "f" is 4; it must be a string)");
  EXPECT_EQ(complaint(R"({"index":1,"type":"ok","process":2,"f":"time"})"), R"(column 46: field "time" is missing)");
  EXPECT_EQ(
      complaint(R"({"index":1,"type":"ok","process":2,"f":"a","time":9223372036854775808})"),
      R"(column 44: field "time" is 9223372036854775808; it must be nanoseconds since the run began, below 2^63)");
}

TEST(Event, LongAndDeepValuesMakeShortComplaints) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(complaint(R"({"index":)" + deep), "column 1: nested deeper than 200 levels");
  const std::string closed = std::string(50'000, '[') + std::string(50'000, ']');
  EXPECT_EQ(complaint(R"({"index":1,"type":"ok","process":2,"f":"a","time":1,"value":)" + closed + "}"),
            "column 1: nested deeper than 200 levels");
  EXPECT_LT(complaint(R"({"index":")" + std::string(5000, 'x') + "\"}").size(), 150U);
  EXPECT_EQ(complaint(R"({"index":1,"type":"ok","process":2,"f":"a","time":1,"value":")" + deep + "\"}"),
            "no complaint");
}

TEST(Event, WhatIsWrittenCanBeReadHoweverDeep) {
  Event event;
  event.f = "read";
  std::size_t kept = 0;
  for (std::size_t levels = 1; levels <= 300; ++levels) {
    event.value = Value::array({std::move(event.value)});
    const Event back = parse_event(to_json_line(event));
    EXPECT_EQ(back.value.is_array(), levels < 200) << levels;
    kept += back.value == event.value ? 1 : 0;
  }
  EXPECT_EQ(kept, 199U);
}

TEST(Event, NotesAreKnownByName) {
  for (const char* note : {"lost", "renewing", "renewed", "step", "exited"}) EXPECT_TRUE(is_note(note)) << note;
  for (const char* other : {"acquire", "release", "read", "write", "renew", "", "LOST"}) EXPECT_FALSE(is_note(other));
}

}  // namespace
}  // namespace holdfast
