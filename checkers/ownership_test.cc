#include "checkers/ownership.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;

Verdict ownership(HistoryBuilder& builder, bool faults = false) {
  return verdict_of("ownership", builder, faults);
}

// Process 1 is paused past its lease; process 2 is granted the lock; process 1 wakes up and releases.
HistoryBuilder late_release() {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(10).fault_starts(3, "pause", {{"process", 1}, {"node", "c1"}});
  builder.at(700).acquire(2, 2, 600).at(701).granted(2).at(720).fault_ends(3, "pause").at(730).release(1, 1);
  return builder;
}

TEST(Ownership, ALateReleaseThatIsAnsweredOkFreedAnothersLock) {
  HistoryBuilder builder = late_release();
  builder.at(731).released(1).at(900).release(2, 2).at(901).not_held(2);
  const Verdict verdict = ownership(builder, true);
  EXPECT_EQ(verdict.validity, Validity::invalid);
  ASSERT_EQ(verdict.findings.size(), 1U) << "one deed, told once";
  EXPECT_EQ(verdict.findings[0].kind, "freed-anothers-lock");
  EXPECT_THAT(verdict.findings[0].because,
              HasSubstr("a release by process 1 (hold 1) was answered ok at 0.731 s while process 2 (hold 2)"));
}

TEST(Ownership, ALateReleaseThatIsRefusedIsAsItShouldBe) {
  HistoryBuilder builder = late_release();
  builder.at(731).not_held(1).at(900).release(2, 2).at(901).released(2);
  const Verdict verdict = ownership(builder, true);
  EXPECT_EQ(verdict.validity, Validity::valid);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.exposures, 1U);
}

TEST(Ownership, AReleaseOfUnknownOutcomeIsBlamedWhenTheVictimLostItsLock) {
  HistoryBuilder builder = late_release();
  builder.at(731).unknown(1, "release").at(800).acquire(3, 3, 600).at(801).granted(3);
  builder.at(900).release(2, 2).at(901).not_held(2);
  const Verdict verdict = ownership(builder, true);
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("process 2 (hold 2) lost the lock before its lease could end"));
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("the only release that can have freed it is that of process 1"));
}

TEST(Ownership, AReleaseOfUnknownOutcomeHarmsNobodyWhoKeepsTheLock) {
  HistoryBuilder builder = late_release();
  builder.at(731).unknown(1, "release").at(900).release(2, 2).at(901).released(2);
  EXPECT_TRUE(ownership(builder, true).findings.empty());
}

TEST(Ownership, AReleaseThatOverlapsTheVictimsAcquireIsBlamedToo) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(700).release(1, 1).at(701).acquire(2, 2, 600).at(705).granted(2);
  builder.at(706).released(1).at(720).acquire(3, 3, 600).at(721).granted(3);
  builder.at(730).release(3, 3).at(731).released(3);
  EXPECT_EQ(ownership(builder).findings.size(), 1U);
}

TEST(Ownership, TheReleaseThatHandedTheLockOverIsNeverBlamed) {
  // Process 1 frees its own lock in time, process 2 gets it, and then the service itself loses it.
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(100).release(1, 1).at(101).acquire(2, 2, 600).at(105).granted(2);
  builder.at(106).released(1).at(120).acquire(3, 3, 600).at(121).granted(3).at(130).release(3, 3).at(131).released(3);
  EXPECT_TRUE(ownership(builder).findings.empty());
}

TEST(Ownership, ALossWhileAServerWasBrokenIsTheServices) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(700).release(1, 1).at(701).acquire(2, 2, 600).at(705).granted(2);
  builder.at(706).released(1).at(710).fault_starts(1, "kill", {{"node", "n1"}, {"server", true}});
  builder.at(715).fault_ends(1, "kill").at(720).acquire(3, 3, 600).at(721).granted(3);
  EXPECT_TRUE(ownership(builder, true).findings.empty());
}

TEST(Ownership, ASecondHolderWithALeaseOfItsOwnIsNoThief) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(10).acquire(2, 2, 600).at(11).granted(2);
  builder.at(20).release(1, 1).at(21).released(1).at(30).release(2, 2).at(31).released(2);
  EXPECT_TRUE(ownership(builder).findings.empty()) << "two holders are for the service checker to tell";
}

TEST(Ownership, CountsReleasesUnderFaultsOnly) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1);
  builder.fault_starts(1, "pause", {{"process", 9}}).at(200).fault_ends(1, "pause");
  const Verdict verdict = ownership(builder, true);
  EXPECT_EQ(verdict.exposures, 0U);
  EXPECT_EQ(verdict.validity, Validity::unknown);
}

}  // namespace
}  // namespace holdfast
