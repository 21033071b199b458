#include "checkers/clients.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "checkers/history_builder.h"
#include "harness/rng.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::holdfast::testing::verdict_of;
using ::testing::HasSubstr;

Verdict clients(HistoryBuilder& builder, bool faults = false) {
  return verdict_of("clients", builder, faults);
}

// Process 1 is paused past its lease; process 2 is granted the lock at 712 ms; process 1 wakes up at 1000 ms.
HistoryBuilder paused_past_the_lease(int first_token = 0, int second_token = 0) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(2);
  first_token != 0 ? builder.granted(1, first_token) : builder.granted(1);
  builder.at(10).fault_starts(4, "pause", {{"process", 1}, {"lane", 0}, {"node", "c1"}});
  builder.at(710).acquire(2, 2, 600).at(712);
  second_token != 0 ? builder.granted(2, second_token) : builder.granted(2);
  builder.at(800).release(2, 2).at(801).released(2);
  builder.at(1000).fault_ends(4, "pause").at(1001).release(1, 1).at(1002).not_held(1);
  return builder;
}

TEST(Clients, AHolderPausedPastItsLeaseOverlapsWithTheNext) {
  HistoryBuilder builder = paused_past_the_lease();
  const Verdict verdict = clients(builder, true);
  ASSERT_EQ(verdict.validity, Validity::invalid);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.kind, "believed-hold-overlap");
  EXPECT_THAT(finding.because, HasSubstr("both believed to hold the lock for 88 ms"));
  EXPECT_THAT(finding.because, HasSubstr("the lease of 600 ms of the first had run out 112 ms earlier while process 1 "
                                         "was paused (fault 4)"));
  EXPECT_THAT(finding.because, HasSubstr("no fencing token was issued"));
  EXPECT_DOUBLE_EQ(finding.detail["overlap_ms"].get<double>(), 88);
  EXPECT_EQ(verdict.exposures, 1U);
}

TEST(Clients, SaysWhetherATokenStopsTheFirst) {
  HistoryBuilder fenced = paused_past_the_lease(7, 8);
  EXPECT_THAT(clients(fenced, true).findings.at(0).because, HasSubstr("stops the first (7 is older than 8)"));
  HistoryBuilder useless = paused_past_the_lease(8, 8);
  EXPECT_THAT(clients(useless, true).findings.at(0).because, HasSubstr("fencing cannot stop the first"));
}

TEST(Clients, LostEndsBelief) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(500).note(1, "lost", {{"hold", 1}});
  builder.at(700).acquire(2, 2).at(701).granted(2).at(710).release(1, 1).at(711).not_held(1);
  EXPECT_TRUE(clients(builder).findings.empty());
}

TEST(Clients, TheDeadBelieveNothing) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(500).exited(1);
  builder.at(700).acquire(2, 2).at(701).granted(2).at(710).release(2, 2).at(711).released(2);
  EXPECT_TRUE(clients(builder).findings.empty());
}

TEST(Clients, WhoNeverReleasesBelievesToTheEnd) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(700).acquire(2, 2).at(701).granted(2).at(710);
  builder.release(2, 2).at(711).released(2);
  EXPECT_EQ(clients(builder).findings.size(), 1U);
}

TEST(Clients, AnUnknownAcquireIsNoBeliefAndAnUnknownReleaseEndsIt) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).unknown(1, "acquire").at(2).acquire(2, 2).at(3).granted(2);
  builder.at(4).release(2, 2).at(5).unknown(2, "release").at(6).acquire(3, 3).at(7).granted(3);
  EXPECT_TRUE(clients(builder).findings.empty());
}

TEST(Clients, WithFaultsButNoHolderHitItIsUnknown) {
  HistoryBuilder builder;
  builder.quiet_cycles(12, 1);
  builder.fault_starts(1, "pause", {{"process", 1}, {"node", "c1"}}).at(300).fault_ends(1, "pause");
  const Verdict verdict = clients(builder, true);
  EXPECT_EQ(verdict.validity, Validity::unknown);
  EXPECT_EQ(verdict.exposures, 0U);
  EXPECT_THAT(verdict.reason, HasSubstr("not exercised"));
}

TEST(Clients, AFaultWithoutEffectIsMentionedAndProvesNothing) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(2).fault_starts(5, "pause", {{"process", 1}}, false);
  builder.at(3).fault_ends(5, "pause", true, false).at(4).release(1, 1).at(5).released(1);
  const Verdict verdict = clients(builder, true);
  EXPECT_EQ(verdict.validity, Validity::unknown);
  EXPECT_THAT(verdict.reason, HasSubstr("fault 5 (pause) had no effect"));
  EXPECT_EQ(verdict.detail["faults"]["not_effective"], Value::array({5}));
}

TEST(Clients, AServerFaultExposesEveryHoldAndALinkFaultOnlyItsNodes) {
  const auto exposures = [](const Value& target) {
    HistoryBuilder builder;
    builder.at(0).fault_starts(1, "partition", target).quiet_cycles(4, 1).fault_ends(1, "partition");
    return clients(builder, true).exposures;
  };
  EXPECT_EQ(exposures({{"node", "n1"}, {"server", true}}), 4U);
  EXPECT_EQ(exposures({{"links", {{"c1", "n1"}}}, {"nodes", {"c1", "n1"}}}), 2U);
  EXPECT_EQ(exposures({{"links", {{"n1", "n2"}}}, {"nodes", {"n1", "n2"}}}), 4U);
}

// Every pair, compared one by one.
TEST(Clients, CountsThePairsThatComparingAllPairsFinds) {
  Rng rng(5);
  std::uint64_t overlapping = 0;
  for (int round = 0; round < 1000; ++round) {
    struct Belief {
      std::uint64_t from, to;
    };
    std::vector<Belief> beliefs;
    std::vector<std::pair<std::uint64_t, std::function<void(HistoryBuilder&)>>> steps;
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t from = 2 * rng.below(60) + 1;
      const std::uint64_t to = from + 2 * (1 + rng.below(8));
      beliefs.push_back({from, to});
      steps.emplace_back(from - 1, [i](HistoryBuilder& builder) { builder.acquire(i, i); });
      steps.emplace_back(from, [i](HistoryBuilder& builder) { builder.granted(i); });
      steps.emplace_back(to, [i](HistoryBuilder& builder) { builder.release(i, i); });
    }
    std::ranges::sort(steps, {}, [](const auto& step) { return step.first; });
    HistoryBuilder builder;
    for (const auto& [time, step] : steps) step(builder.at(static_cast<double>(time)));
    std::uint64_t pairs = 0;
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        pairs += std::max(beliefs[i].from, beliefs[j].from) < std::min(beliefs[i].to, beliefs[j].to) ? 1 : 0;
      }
    }
    const Verdict verdict = clients(builder);
    ASSERT_EQ(verdict.detail["findings"].get<std::uint64_t>(), pairs);
    ASSERT_EQ(verdict.findings.size(), std::min<std::uint64_t>(pairs, kFindingLimit));
    overlapping += pairs;
  }
  EXPECT_GT(overlapping, 1000U);
}

}  // namespace
}  // namespace holdfast
