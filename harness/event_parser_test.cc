// EventParser says of every line what parse_event says of it.
#include <gtest/gtest.h>

#include "harness/error.h"
#include "harness/event.h"
#include "harness/rng.h"

namespace holdfast {
namespace {

template <typename Parse>
std::string outcome(const std::string& line, Parse parse) {
  try {
    const Event event = parse(line);
    // What to_json_line does not show: whether numbers are of the same kind.
    return to_json_line(event) + (event.value.is_number_unsigned() ? " unsigned" : "") +
           (event.value.is_number_float() ? " real" : "") + (event.extra.is_null() ? "" : " extra");
  } catch (const Error& error) {
    return error.what();
  }
}

class EventParserTest : public ::testing::Test {
 protected:
  void expect_same(const std::string& line) {
    const std::string expected = outcome(line, [](const std::string& text) { return parse_event(text); });
    EXPECT_EQ(outcome(line, [this](const std::string& text) { return parser_.parse(text); }), expected) << line;
  }

 private:
  EventParser parser_;
};

std::vector<std::string> lines() {
  std::vector<std::string> all = {
      R"({"index":0,"type":"invoke","process":3,"f":"acquire","key":"L1","value":{"hold":12,"lease_ms":600},"time":0})",
      R"({"index":8,"type":"fail","process":0,"f":"release","key":"L1","value":null,"time":129384,"error":"not-held"})",
      R"({"index":9,"type":"info","process":"nemesis","f":"pause","value":{"fault":3},"time":9223372036854775807})",
      R"({"index":18446744073709551615,"type":"info","process":1,"f":"x","value":[1,-2,0.5,true,"ü"],"time":1})",
      R"({"time":5,"f":"read","type":"fail","process":2,"index":1,"error":{"code":4},"node":"n1","key":17,"value":6})",
      R"({"index":1,"type":"ok","process":2,"f":"read","value":6,"time":5,"clock":[1,2],"debug info":{"a":"b"}})",
      R"({"index":1,"index":2,"type":"ok","process":2,"f":"read","value":1,"value":-0,"time":5,"key":null})",
      R"({"index":1,"type":"ok","process":2,"f":"\u00e4\n","value":{"a":1,"a":2},"time":5})",
      R"({"index":1,"type":"ok","process":9223372036854775808,"f":"x","time":5})",
      R"({"index":1,"type":"ok","process":2,"f":"x","time":9223372036854775808})",
      R"([1])",
      "",
      " ",
      "nonsense"};
  for (const char* value : {"1e999", "123456789012345678901234567890", "1.0", "-1", "-9223372036854775808", "1e3",
                            "18446744073709551615", "18446744073709551616", "0.1", "\"\\ud800\"", "[]", "{}"}) {
    all.push_back(R"({"index":1,"type":"ok","process":2,"f":"x","time":5,"value":)" + std::string(value) + "}");
  }
  for (const std::size_t levels : {198U, 199U, 200U, 201U}) {
    all.push_back(R"({"index":1,"type":"ok","process":2,"f":"x","time":5,"value":)" + std::string(levels, '[') +
                  std::string(levels, ']') + "}");
  }
  return all;
}

TEST_F(EventParserTest, SaysTheSameOfUsualAndUnusualLines) {
  for (const std::string& line : lines()) expect_same(line);
}

TEST_F(EventParserTest, SaysTheSameOfDamagedLines) {
  Rng rng(7);
  for (const std::string& line : lines()) {
    if (line.size() < 3 || line.size() > 300) continue;
    for (std::size_t length = 1; length < line.size(); ++length) expect_same(line.substr(0, length));
    for (int round = 0; round < 300; ++round) {
      std::string damaged = line;
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
      expect_same(damaged);
      damaged.erase(rng.below(damaged.size()), 1 + rng.below(4));
      expect_same(damaged);
    }
  }
}

}  // namespace
}  // namespace holdfast
