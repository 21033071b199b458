#include "checkers/wakeup.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;

Verdict wakeup(HistoryBuilder& builder, bool faults = false) {
  return verdict_of("wake-up", builder, faults);
}

// Process 1 holds the lock from 101 to 200 ms, process 2 waits for it all the time. Ten quiet cycles come first, so
// that enough was granted; their lease of 600 ms makes 1.6 s the longest wait.
HistoryBuilder one_waits(int lease = 600) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 100);
  builder.at(100).acquire(1, 1, lease).at(100.5).acquire(2, 2, lease).at(101).granted(1);
  return builder.at(200).release(1, 1).at(201).released(1);
}

TEST(WakeUp, AWaiterThatIsLeftAsleepIsNamed) {
  HistoryBuilder builder = one_waits();
  builder.at(1900).granted(2).at(1910).release(2, 2).at(1911).released(2);
  const Verdict verdict = wakeup(builder);
  EXPECT_EQ(verdict.validity, Validity::invalid);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].kind, "lost-wake-up");
  EXPECT_EQ(verdict.findings[0].because,
            "L1: process 2 waited for the lock from 0.101 s; it was free from 0.201 s, and for 1.699 s nobody was "
            "granted it");
}

TEST(WakeUp, AWaiterThatIsWokenInTimeIsFine) {
  HistoryBuilder builder = one_waits();
  builder.at(1700).granted(2).at(1710).release(2, 2).at(1711).released(2);
  const Verdict verdict = wakeup(builder);
  EXPECT_TRUE(verdict.applicable);
  EXPECT_EQ(verdict.validity, Validity::valid) << verdict.reason;
}

TEST(WakeUp, WhoSleepsToTheEndIsNamed) {
  HistoryBuilder builder = one_waits(0);
  builder.at(2300).note(2, "step", {{"step", "waiting"}});
  const Verdict verdict = wakeup(builder);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("2.099 s nobody was granted it, to the end of the history"));
}

TEST(WakeUp, WhoGaveUpInTimeDidNotSleep) {
  HistoryBuilder builder = one_waits(0);
  builder.at(1700).refused(2).at(5000).note(2, "step", {{"step", "gone"}});
  EXPECT_EQ(wakeup(builder).validity, Validity::valid);
}

TEST(WakeUp, SomebodyElseWhoMayHoldTheLockExplainsIt) {
  HistoryBuilder builder;
  builder.quiet_cycles(10, 100).at(100).acquire(3, 3, 0).at(100.1).unknown(3, "acquire");
  builder.acquire(1, 1, 0).at(100.5).acquire(2, 2, 0).at(101).granted(1).at(200).release(1, 1).at(201).released(1);
  builder.at(9000).granted(2);
  EXPECT_EQ(wakeup(builder).validity, Validity::valid);
}

TEST(WakeUp, WhatAFaultLosesMustBeMadeGoodWhenItIsOver) {
  for (const int granted : {3500, 3700}) {
    HistoryBuilder builder;
    builder.quiet_cycles(10, 100).at(100).acquire(1, 1).at(100.5).acquire(2, 2).at(101).granted(1);
    builder.at(150).fault_starts(1, "partition", {{"nodes", {"c2", "n1"}}});
    builder.at(200).release(1, 1).at(201).released(1).at(2000).fault_ends(1, "partition");
    builder.at(granted).granted(2).at(granted + 1).release(2, 2).at(granted + 2).released(2);
    const Verdict verdict = wakeup(builder, true);
    EXPECT_EQ(verdict.validity, granted == 3700 ? Validity::invalid : Validity::valid) << verdict.reason;
    EXPECT_EQ(verdict.exposures, 1U);
  }
}

TEST(WakeUp, NothingIsSaidAboutClientsThatPoll) {
  HistoryBuilder builder;
  builder.quiet_cycles(20, 100);
  EXPECT_FALSE(wakeup(builder).applicable);
}

}  // namespace
}  // namespace holdfast
