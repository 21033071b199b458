#include "cli/duration.h"

#include <gmock/gmock.h>

#include "harness/error.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("--time", "500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("--time", "30"), seconds(30));
  EXPECT_EQ(parse_duration("--time", "1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("--time", "2m"), seconds(120));
  EXPECT_EQ(parse_duration("--time", "1h"), seconds(3600));
  EXPECT_EQ(parse_duration("--time", "0"), seconds(0));
}

TEST(Duration, RefusesTheRestByName) {
  for (const char* text : {"", "soon", "-1s", "1 s", "5x", "nan", "inf", "1e300s", "25h"}) {
    EXPECT_THROW(parse_duration("--time", text), UsageError) << text;
  }
}

TEST(Duration, PrintsTheShortestForm) {
  EXPECT_EQ(to_text(milliseconds(600)), "600ms");
  EXPECT_EQ(to_text(seconds(30)), "30s");
}

}  // namespace
}  // namespace holdfast
