#include "checkers/tokens.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;

HistoryBuilder grants(const std::vector<int>& tokens) {
  HistoryBuilder builder;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int process = 1 + static_cast<int>(i % 2);
    const auto t = static_cast<double>(10 * i);
    builder.at(t).acquire(process, static_cast<int>(i)).at(t + 1).granted(process, tokens[i]);
    builder.at(t + 2).release(process, static_cast<int>(i)).at(t + 3).released(process);
  }
  return builder;
}

TEST(Tokens, GrowingTokensAreFine) {
  HistoryBuilder builder = grants({1, 2, 4, 5, 9, 10, 11, 12, 13, 20});
  const Verdict verdict = verdict_of("token-order", builder);
  EXPECT_TRUE(verdict.applicable);
  EXPECT_EQ(verdict.validity, Validity::valid);
}

TEST(Tokens, ATokenThatWentBackIsFound) {
  HistoryBuilder builder = grants({1, 2, 9, 4});
  const Verdict verdict = verdict_of("token-order", builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "token-went-back");
  EXPECT_EQ(verdict.findings[0].detail["tokens"], Value::array({9, 4}));
}

TEST(Tokens, ARepeatedTokenIsFound) {
  HistoryBuilder builder = grants({1, 2, 2});
  const Verdict verdict = verdict_of("token-order", builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "token-repeated");
}

TEST(Tokens, GrantsThatOverlapInTimeMayComeInEitherOrder) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).acquire(2, 2).at(2).granted(1, 5).at(3).granted(2, 4);
  EXPECT_TRUE(verdict_of("token-order", builder).findings.empty());
}

TEST(Tokens, WithoutTokensItDoesNotApply) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1);
  EXPECT_FALSE(verdict_of("token-order", builder).applicable);
}

TEST(Tokens, GrantsAfterAHolderWasHitAreTheExposures) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1, 1).at(2).fault_starts(1, "pause", {{"process", 1}});
  builder.at(700).acquire(2, 2).at(701).granted(2, 2).at(900).fault_ends(1, "pause");
  const Verdict verdict = verdict_of("token-order", builder, true);
  EXPECT_EQ(verdict.exposures, 1U);
  EXPECT_EQ(verdict.validity, Validity::valid);
}

}  // namespace
}  // namespace holdfast
