#include "results/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using testing::ElementsAre;

TEST(Text, width_is_what_a_terminal_shows) {
  EXPECT_EQ(display_width("✗ BROKEN"), 8U);
  EXPECT_EQ(display_width("\x1b[1;31mred\x1b[0m"), 3U);
  EXPECT_EQ(padded("✓", 3), "✓  ");
  EXPECT_EQ(padded("long", 2), "long");
}

TEST(Text, wraps_between_words_and_cuts_what_is_too_long) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("éééé", 2), ElementsAre("éé", "éé"));
  EXPECT_THAT(wrapped("", 5), ElementsAre(""));
}

TEST(Text, control_characters_become_harmless) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\x7f"), "a\\x1b[2Jb c\\x7f");
}

TEST(Text, numbers_for_people) {
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(counted(1, "fault"), "1 fault");
  EXPECT_EQ(counted(2000, "run"), "2,000 runs");
  EXPECT_EQ(duration_text(std::chrono::microseconds(250)), "0.25 ms");
  EXPECT_EQ(duration_text(std::chrono::milliseconds(84)), "84 ms");
  EXPECT_EQ(duration_text(std::chrono::milliseconds(12'381)), "12.381 s");
  EXPECT_EQ(duration_text(std::chrono::seconds(600)), "600 s");
}

}  // namespace
}  // namespace holdfast
