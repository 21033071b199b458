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

TEST(Stats, AnEmptyHistoryHasNoNumbersAndNoTrouble) {
  HistoryBuilder builder;
  const Verdict verdict = verdict_of("stats", builder);
  EXPECT_TRUE(verdict.detail["operations"].empty());
  EXPECT_FALSE(verdict.applicable) << "numbers cannot make a run green";
}

}  // namespace
}  // namespace holdfast
