#include "adapters/cpp/envelope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace holdfast {
namespace {

TEST(Envelope, FindsTheFieldsAndLeavesTheValueAsText) {
  const auto request = parse_envelope(
      R"({"id":7,"f":"acquire","key":"L1","value":{"hold":12,"f":"x"},"stop_at":["a","b"],"more":[1.5e3]})");
  EXPECT_EQ(request.id, 7U);
  EXPECT_EQ(request.f, "acquire");
  EXPECT_EQ(request.key, "L1");
  EXPECT_EQ(request.value, R"({"hold":12,"f":"x"})");
  EXPECT_EQ(request.stop_at, R"(["a","b"])");
  EXPECT_FALSE(request.resume);
}

TEST(Envelope, TakesAnyOrderSpacesAndEscapes) {
  const auto request =
      parse_envelope("  { \"value\" : null ,\t\"key\":\"a\\u00e9\\n\\\"\" , \"f\" : \"r\" , \"id\" : 0 } \r");
  EXPECT_EQ(request.key, "a\u00e9\n\"");
  EXPECT_EQ(request.value, "null");
  EXPECT_EQ(request.id, 0U);
}

TEST(Envelope, KnowsContinue) {
  EXPECT_EQ(parse_envelope(R"({"continue":18446744073709551615})").resume, ~0ULL);
}

TEST(Envelope, KeyMayBeNull) {
  EXPECT_EQ(parse_envelope(R"({"id":1,"f":"x","key":null})").key, "");
}

// Every line here is refused, and nlohmann's parser agrees, except for those that are JSON but not a request.
TEST(Envelope, RefusesWhatIsNotJson) {
  for (const char* line : {"",
                           "{",
                           "}",
                           "[]",
                           "null",
                           "hello",
                           R"({"id":1)",
                           R"({"id":1,})",
                           R"({"id":})",
                           R"({"id":1}x)",
                           R"({"id" 1})",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":-})",
                           R"({"a":1e})",
                           R"({"a":tru})",
                           R"({"a":"\x"})",
                           R"({"a":"\u12g4"})",
                           "{\"a\":\"\n\"}",
                           R"({"a":[1,]})",
                           R"({"a":{"b"}})",
                           R"({"a":"b)",
                           R"({a:1})",
                           R"({"a":+1})"}) {
    EXPECT_THROW(parse_envelope(line), MalformedLine) << line;
    EXPECT_FALSE(nlohmann::json::accept(line) && nlohmann::json::parse(line).is_object()) << line;
  }
}

TEST(Envelope, RefusesIdsThatAreNotWholeNumbers) {
  for (const char* line : {R"({"id":-1})", R"({"id":1.5})", R"({"id":1e3})", R"({"id":"1"})", R"({"id":null})",
                           R"({"id":18446744073709551616})", R"({"f":7})"})
    EXPECT_THROW(parse_envelope(line), MalformedLine) << line;
}

TEST(Envelope, DeepNestingIsRefusedBeforeTheStackIsGone) {
  EXPECT_THROW(parse_envelope(R"({"value":)" + std::string(1000000, '[')), MalformedLine);
}

// Cuts and flips of a good line are accepted only where nlohmann's parser accepts them too.
TEST(Envelope, AgreesWithNlohmannOnMutations) {
  const std::string good = R"({"id":7,"f":"ac\"q","key":"L1","value":{"h":[1,-2.5e+3,true,null,""]},"x":{}})";
  int accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char character : std::string("{}[],:\"\\0-.e tx\x01")) {
      std::string line = good;
      line[at] = character;
      bool ours = true;
      try {
        parse_envelope(line);
      } catch (const MalformedLine&) {
        ours = false;
      }
      const bool theirs = nlohmann::json::accept(line);
      if (ours) {
        EXPECT_TRUE(theirs) << line;
        ++accepted;
      }
    }
    EXPECT_THROW(parse_envelope(good.substr(0, at)), MalformedLine);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace holdfast
