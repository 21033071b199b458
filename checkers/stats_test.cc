#include "checkers/stats.h"

#include <gtest/gtest.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;

TEST(Stats, CountsOperationsGrantsAndHandovers) {
  HistoryBuilder builder;
  builder.quiet_cycles(4, 1);
  builder.at(50).acquire(1, 10).at(53).refused(1).at(60).acquire(1, 11).at(65).unknown(1, "acquire").exited(1);
  const Verdict verdict = verdict_of("stats", builder);
  EXPECT_EQ(verdict.validity, Validity::valid);
  const Value& acquire = verdict.detail["operations"]["acquire"];
  EXPECT_EQ(acquire["ok"], 4);
  EXPECT_EQ(acquire["fail"], 1);
  EXPECT_EQ(acquire["info"], 1);
  EXPECT_DOUBLE_EQ(acquire["p50_ms"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(acquire["max_ms"].get<double>(), 3);
  EXPECT_EQ(verdict.detail["grants"]["L1"], 4);
  EXPECT_EQ(verdict.detail["handovers"]["L1"], 3);
  EXPECT_EQ(verdict.detail["retired"], 1);
  EXPECT_EQ(verdict.detail["exited"], 1);
}

TEST(Stats, CountsHowOftenAWaiterWasOvertaken) {
  HistoryBuilder builder;
  builder.at(0).acquire(3, 1).at(1).refused(3).acquire(4, 2).quiet_cycles(6, 100);
  builder.at(100).acquire(3, 50).at(101).granted(3);
  const Verdict verdict = verdict_of("stats", builder);
  const Value& waits = verdict.detail["waits"]["L1"];
  EXPECT_EQ(waits["most_overtaken"], 6);
  EXPECT_DOUBLE_EQ(waits["max_ms"].get<double>(), 101);
  EXPECT_DOUBLE_EQ(waits["p50_ms"].get<double>(), 1);
  EXPECT_EQ(waits["waiting_at_the_end"], 1);
  EXPECT_EQ(waits["most_overtaken_at_the_end"], 7);
}

TEST(Stats, WhoIsGoneOrGotAnUnknownAnswerDoesNotWait) {
  HistoryBuilder builder;
  builder.acquire(3, 1).acquire(4, 2).at(1).unknown(3, "acquire").exited(4);
  EXPECT_EQ(verdict_of("stats", builder).detail["waits"]["L1"]["waiting_at_the_end"], 0);
}

TEST(Stats, AnEmptyHistoryHasNoNumbersAndNoTrouble) {
  HistoryBuilder builder;
  const Verdict verdict = verdict_of("stats", builder);
  EXPECT_TRUE(verdict.detail["operations"].empty());
  EXPECT_FALSE(verdict.applicable) << "numbers cannot make a run green";
}

}  // namespace
}  // namespace holdfast
