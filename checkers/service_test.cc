#include "checkers/service.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

Verdict service(HistoryBuilder& builder) {
  return verdict_of("service", builder);
}

TEST(Service, QuietCyclesAreValidAndExercised) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1);
  const Verdict verdict = service(builder);
  EXPECT_EQ(verdict.validity, Validity::valid);
  EXPECT_EQ(verdict.exposures, 10U);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Service, TwoHoldersAtOnceAreNamedWithTheirOverlap) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(10).granted(1).at(20).acquire(2, 2).at(30).granted(2);
  builder.at(90).release(1, 1).at(95).released(1).at(100).release(2, 2).at(105).released(2);
  const Verdict verdict = service(builder);
  ASSERT_EQ(verdict.validity, Validity::invalid);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.kind, "two-holders");
  EXPECT_THAT(finding.because, HasSubstr("process 1 (hold 1)"));
  EXPECT_THAT(finding.because, HasSubstr("process 2 (hold 2)"));
  EXPECT_THAT(finding.because, HasSubstr("both held it for 60 ms"));
  EXPECT_THAT(finding.events, IsSupersetOf({0U, 1U, 2U, 3U, 4U, 6U}));
  EXPECT_DOUBLE_EQ(finding.detail["overlap_ms"].get<double>(), 60);
}

TEST(Service, ALeaseThatRanOutUnderAPausedHolderIsNotTheServicesFault) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(599).acquire(2, 2, 600).at(602).granted(2);
  builder.at(700).release(1, 1).at(701).not_held(1).at(720).release(2, 2).at(721).released(2);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, ALeaseThatEndsEarlyIs) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(500).acquire(2, 2, 600).at(502).granted(2);
  builder.at(700).release(1, 1).at(701).not_held(1).at(720).release(2, 2).at(721).released(2);
  const Verdict verdict = service(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("its lease of 600 ms could not end earlier"));
}

TEST(Service, WithoutALeaseTheLockIsHeldUntilItIsReleased) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 0).at(1).granted(1).at(50'000).acquire(2, 2, 0).at(50'001).granted(2).at(50'010);
  builder.release(2, 2).at(50'011).released(2);
  const Verdict verdict = service(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("to the end of the history"));
}

TEST(Service, AReleaseOfUnknownOutcomeMayHaveFreedTheLock) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 0).at(1).granted(1).at(10).release(1, 1).at(20).unknown(1, "release");
  builder.at(21).acquire(2, 2, 0).at(22).granted(2);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, AnAcquireOfUnknownOutcomeNeedNotHoldAnything) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 0).at(5).unknown(1, "acquire").at(6).acquire(2, 2, 0).at(7).granted(2);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, NotHeldBeforeTheLeaseCanHaveEndedIsALoss) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(100).release(1, 1).at(101).not_held(1);
  const Verdict verdict = service(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "lost-before-lease-end");
}

TEST(Service, NotHeldAfterTheLeaseIsFine) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(650).release(1, 1).at(651).not_held(1);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, AReleaseWithoutAHoldIsNamed) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).refused(1).at(2).release(1, 1).at(3).released(1);
  const Verdict verdict = service(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "released-without-hold");
}

// Granted at 0 with a lease of 600 ms, renewed at 500: nobody else may have it before about 500 - 100 + 584 ms.
HistoryBuilder renewed_hold(bool answered) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(500).note(1, "renewing", {{"hold", 1}});
  if (answered) builder.at(501).note(1, "renewed", {{"hold", 1}});
  return builder;
}

TEST(Service, AGrantedRenewalProlongsTheHold) {
  HistoryBuilder builder = renewed_hold(true);
  builder.at(900).acquire(2, 2, 600).at(901).granted(2);
  EXPECT_EQ(service(builder).findings.size(), 1U);
}

TEST(Service, ARenewalThatWasNotAnsweredDoesNot) {
  HistoryBuilder builder = renewed_hold(false);
  builder.at(900).acquire(2, 2, 600).at(901).granted(2);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, ARenewalLastsForOneMoreLeaseOnly) {
  HistoryBuilder builder = renewed_hold(true);
  builder.at(1100).acquire(2, 2, 600).at(1101).granted(2);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, KeysDoNotMix) {
  HistoryBuilder builder;
  builder.on("L1").at(0).acquire(1, 1).at(1).granted(1).on("L2").at(2).acquire(2, 2).at(3).granted(2);
  builder.at(4).release(2, 2).at(5).released(2).on("L1").at(6).release(1, 1).at(7).released(1);
  EXPECT_TRUE(service(builder).findings.empty());
}

TEST(Service, TooLittleWorkIsUnknown) {
  HistoryBuilder builder;
  builder.quiet_cycles(9, 1);
  const Verdict verdict = service(builder);
  EXPECT_EQ(verdict.validity, Validity::unknown);
  EXPECT_THAT(verdict.reason, HasSubstr("not exercised: 9 grants"));
}

TEST(Service, ManyViolationsAreCountedAndTwentyTold) {
  HistoryBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const double t = i * 1000;
    builder.at(t).acquire(1, 2 * i).at(t + 1).granted(1).at(t + 2).acquire(2, 2 * i + 1).at(t + 3).granted(2);
    builder.at(t + 10).release(1, 2 * i).at(t + 11).released(1).at(t + 12).release(2, 2 * i + 1).at(t + 13).released(2);
  }
  EXPECT_EQ(service(builder).findings.size(), kFindingLimit);
}

}  // namespace
}  // namespace holdfast
