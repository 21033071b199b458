#include "checkers/deadlock.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;

Verdict deadlock(HistoryBuilder& builder, bool faults = true) {
  return verdict_of("deadlock-freedom", builder, faults);
}

// Attempts of processes 2 and 3 by turns, every 100 ms in [from, to), all refused.
void refused_attempts(HistoryBuilder& builder, int from, int to, int first_hold, int lease) {
  for (int t = from, i = 0; t < to; t += 100, ++i) {
    builder.at(t).acquire(2 + i % 2, first_hold + i, lease).at(t + 1).refused(2 + i % 2);
  }
}

HistoryBuilder killed_holder(int lease) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, lease).at(1).granted(1).at(5).note(1, "step", {{"step", "reading"}, {"hold", 1}});
  builder.at(10).exited(1).at(11).fault_starts(1, "kill", {{"process", 1}, {"node", "c1"}});
  return builder.at(50).fault_ends(1, "kill");
}

TEST(Deadlock, TheLockOfADeadHolderThatNeverComesFreeIsNamed) {
  HistoryBuilder builder = killed_holder(0);
  refused_attempts(builder, 100, 2300, 10, 0);
  const Verdict verdict = deadlock(builder);
  EXPECT_EQ(verdict.validity, Validity::invalid);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "deadlock");
  EXPECT_THAT(verdict.findings[0].because,
              HasSubstr("process 1 (hold 1) died of signal 9 at 0.010 s while it held the lock (its last step: "
                        "\"reading\"), and the lock never came free: 22 attempts of 2 processes over 2.101 s"));
  EXPECT_EQ(verdict.exposures, 1U);
}

TEST(Deadlock, TheLockThatComesFreeWithItsLeaseIsFine) {
  HistoryBuilder builder = killed_holder(600);
  refused_attempts(builder, 100, 600, 10, 600);
  builder.at(650).acquire(2, 50, 600).at(651).granted(2).at(660).release(2, 50).at(661).released(2);
  const Verdict verdict = deadlock(builder);
  EXPECT_EQ(verdict.validity, Validity::valid);
  EXPECT_EQ(verdict.exposures, 1U);
}

TEST(Deadlock, AClientKilledWhileItAcquiresMayHoldTheLockForEver) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(5).note(1, "step", {{"step", "set"}}).at(10).unknown(1, "acquire").exited(1);
  builder.at(11).fault_starts(1, "kill", {{"process", 1}}).at(50).fault_ends(1, "kill");
  refused_attempts(builder, 100, 1900, 10, 600);
  const Verdict verdict = deadlock(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("while it was acquiring the lock (its last step: \"set\")"));
}

TEST(Deadlock, TooFewAttemptsAreUnknown) {
  HistoryBuilder builder = killed_holder(0);
  refused_attempts(builder, 100, 600, 10, 0);
  const Verdict verdict = deadlock(builder);
  EXPECT_EQ(verdict.validity, Validity::unknown);
  EXPECT_THAT(verdict.reason, HasSubstr("only 5 attempts over 0.401 s"));
}

TEST(Deadlock, AttemptsUnderAFaultDoNotCount) {
  HistoryBuilder builder = killed_holder(0);
  builder.at(60).fault_starts(2, "partition", {{"links", {{"c2", "n1"}}}, {"nodes", {"c2", "n1"}}});
  refused_attempts(builder, 100, 2300, 10, 0);
  builder.at(2300).fault_ends(2, "partition");
  EXPECT_EQ(deadlock(builder).validity, Validity::unknown);
}

TEST(Deadlock, ALockThatNobodyHoldsIsLost) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1);
  refused_attempts(builder, 200, 2000, 50, 600);
  const Verdict verdict = deadlock(builder, false);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "lost-lock");
}

TEST(Deadlock, RefusalsWhileALiveClientHoldsAreFine) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1).acquire(1, 40, 0).at(110).granted(1);
  refused_attempts(builder, 200, 5000, 50, 0);
  const Verdict verdict = deadlock(builder, false);
  EXPECT_EQ(verdict.validity, Validity::valid);
}

TEST(Deadlock, ClientsThatEndWithTheRunAreNoDeadHolders) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 1).acquire(1, 40).at(110).granted(1).at(120).exited(1).exited(2);
  EXPECT_EQ(deadlock(builder, false).validity, Validity::valid);
}

TEST(Deadlock, APausedHolderWhoseLockIsGrantedAgainCountsAsExposure) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(2).fault_starts(1, "pause", {{"process", 1}});
  builder.at(700).acquire(2, 2).at(701).granted(2).at(710).release(2, 2).at(711).released(2).at(800);
  builder.fault_ends(1, "pause").at(801).release(1, 1).at(802).not_held(1);
  const Verdict verdict = deadlock(builder);
  EXPECT_EQ(verdict.exposures, 1U);
  EXPECT_EQ(verdict.validity, Validity::valid);
}

}  // namespace
}  // namespace holdfast
