#include "checkers/resource.h"

#include <gmock/gmock.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;

Verdict resource(HistoryBuilder& builder) {
  return verdict_of("resource", builder);
}

std::vector<std::string> kinds(const Verdict& verdict) {
  std::vector<std::string> result;
  result.reserve(verdict.findings.size());
  for (const Finding& finding : verdict.findings) result.push_back(finding.kind);
  return result;
}

// Process 1 reads under hold 1 and sleeps; process 2 goes through a whole cycle; process 1 wakes up and writes.
HistoryBuilder sleeper(int first_token, int second_token) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1);
  first_token != 0 ? builder.granted(1, first_token) : builder.granted(1);
  builder.at(2).read(1, 1, first_token).at(3).value(1, 0).at(700).acquire(2, 2).at(701);
  second_token != 0 ? builder.granted(2, second_token) : builder.granted(2);
  builder.at(702).read(2, 2, second_token).at(703).value(2, 0).at(704).write(2, 2, 0, 20, second_token).at(705);
  builder.written(2).at(800).write(1, 1, 0, 10, first_token).at(801);
  return builder;
}

TEST(Resource, ASleeperWhoWritesLosesAnUpdateAndIsStale) {
  HistoryBuilder builder = sleeper(0, 0);
  builder.written(1);
  const Verdict verdict = resource(builder);
  EXPECT_EQ(verdict.validity, Validity::invalid);
  EXPECT_EQ(kinds(verdict), (std::vector<std::string>{"lost-update", "stale-write"}));
  EXPECT_THAT(verdict.findings[0].because, HasSubstr("both read 0 and both wrote (20, then 10)"));
  EXPECT_THAT(verdict.findings[1].because, HasSubstr("95 ms after process 2 (hold 2)"));
}

TEST(Resource, FencingStopsTheSleeper) {
  HistoryBuilder builder = sleeper(7, 8);
  builder.stale(1, "write");
  EXPECT_TRUE(resource(builder).findings.empty());
}

TEST(Resource, ATokenTakenOutOfOrderIsFound) {
  HistoryBuilder builder = sleeper(7, 8);
  builder.written(1);
  EXPECT_EQ(kinds(resource(builder)),
            (std::vector<std::string>{"lost-update", "stale-write", "token-accepted-out-of-order"}));
}

TEST(Resource, ARejectionNeedsANewerToken) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1, 7).at(2).read(1, 1, 7).at(3).stale(1, "read");
  EXPECT_EQ(kinds(resource(builder)), std::vector<std::string>{"rejected-without-cause"});
  // An access of unknown outcome may have raised the mark.
  HistoryBuilder twin;
  twin.at(0).acquire(1, 1).at(1).granted(1, 7).at(2).acquire(2, 2).at(3).granted(2, 8).at(4).read(2, 2, 8);
  twin.at(5).unknown(2, "read").at(6).read(1, 1, 7).at(7).stale(1, "read");
  EXPECT_TRUE(resource(twin).findings.empty());
}

TEST(Resource, ATokenMustHaveBeenIssuedToItsHold) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1, 7).at(2).read(1, 1, 9).at(3).value(1, 0);
  EXPECT_EQ(kinds(resource(builder)), std::vector<std::string>{"token-not-issued"});
}

TEST(Resource, ValuesComeFromSomewhere) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(2).read(1, 1).at(3).value(1, 99);
  EXPECT_EQ(kinds(resource(builder)), std::vector<std::string>{"value-from-nowhere"});
  HistoryBuilder rejected;
  rejected.at(0).acquire(1, 1).at(1).granted(1, 7).at(2).acquire(2, 2).at(3).granted(2, 8).at(4).read(2, 2, 8).at(5);
  rejected.value(2, 0).at(6).write(1, 1, 0, 10, 7).at(7).stale(1, "write").at(8).read(2, 2, 8).at(9).value(2, 10);
  EXPECT_THAT(resource(rejected).findings.at(0).because, HasSubstr("the resource had turned away"));
}

TEST(Resource, AWriteOfUnknownOutcomeCountsOnceItWasSeen) {
  HistoryBuilder unseen;
  unseen.at(0).acquire(1, 1).at(1).granted(1).at(2).write(1, 1, 0, 10).at(3).unknown(1, "write");
  unseen.at(700).acquire(2, 2).at(701).granted(2).at(702).write(2, 2, 0, 20).at(703).written(2);
  EXPECT_TRUE(resource(unseen).findings.empty());
  HistoryBuilder seen;
  seen.at(0).acquire(1, 1).at(1).granted(1).at(2).write(1, 1, 0, 10).at(3).unknown(1, "write");
  seen.at(700).acquire(2, 2).at(701).granted(2).at(702).write(2, 2, 0, 20).at(703).written(2);
  seen.at(704).read(2, 2).at(705).value(2, 10);
  EXPECT_EQ(kinds(resource(seen)), std::vector<std::string>{"lost-update"});
}

TEST(Resource, HandoversInOrderAreFine) {
  HistoryBuilder builder;
  int was = 0;
  for (int i = 0; i < 12; ++i) {
    const int process = 1 + i % 2;
    const double t = i * 20;
    builder.at(t).acquire(process, i).at(t + 1).granted(process).at(t + 2).read(process, i).at(t + 3);
    builder.value(process, was).at(t + 4).write(process, i, was, 100 + i).at(t + 5).written(process);
    builder.at(t + 6).release(process, i).at(t + 7).released(process);
    was = 100 + i;
  }
  const Verdict verdict = resource(builder);
  EXPECT_EQ(verdict.validity, Validity::valid);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Resource, WithoutAResourceItDoesNotApply) {
  HistoryBuilder builder;
  builder.quiet_cycles(12, 1);
  EXPECT_FALSE(resource(builder).applicable);
}

}  // namespace
}  // namespace holdfast
