#include "checkers/judge.h"

#include <gmock/gmock.h>

#include <set>

#include "checkers/history_builder.h"
#include "harness/error.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using ::testing::HasSubstr;

class Thrower : public Checker {
 public:
  [[nodiscard]] std::string_view name() const override { return "thrower"; }
  [[nodiscard]] Verdict check(const History& /*history*/, const Budget& /*budget*/) const override {
    throw Error("the roof fell in");
  }
};

std::vector<Judgement> judged(HistoryBuilder& builder, bool faults) {
  const History history = builder.build();
  return judge(history, lock_checkers({.faults = faults}));
}

Judgement made(const char* name, Validity validity, std::uint64_t exposures = 5) {
  Judgement judgement;
  judgement.name = name;
  judgement.verdict.validity = validity;
  judgement.verdict.exposures = exposures;
  return judgement;
}

TEST(Judge, AQuietRunIsValidAndEachPropertyHasItsTitle) {
  HistoryBuilder builder;
  builder.quiet_cycles(12, 1);
  const std::vector<Judgement> judgements = judged(builder, false);
  ASSERT_EQ(judgements.size(), lock_checker_table().size());
  EXPECT_EQ(judgements[0].title, "mutual exclusion at the service");
  EXPECT_GE(judgements[0].milliseconds, 0);
  EXPECT_EQ(overall(judgements), Validity::valid);
}

TEST(Judge, ACheckerThatThrowsIsUnknownAndNobodyElseSuffers) {
  HistoryBuilder builder;
  builder.quiet_cycles(12, 1);
  const History history = builder.build();
  std::vector<std::unique_ptr<Checker>> checkers = lock_checkers({});
  checkers.insert(checkers.begin(), std::make_unique<Thrower>());
  const std::vector<Judgement> judgements = judge(history, checkers);
  EXPECT_EQ(judgements[0].verdict.validity, Validity::unknown);
  EXPECT_THAT(judgements[0].verdict.reason, HasSubstr("the roof fell in"));
  EXPECT_EQ(judgements[0].title, "thrower");
  EXPECT_EQ(judgements[1].verdict.validity, Validity::valid);
}

TEST(Judge, AHistoryThatReusesHoldIdsIsUnknownNotWrong) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 7).at(1).refused(1).at(2).acquire(2, 7).at(3).granted(2);
  const std::vector<Judgement> judgements = judged(builder, false);
  EXPECT_THAT(judgements[0].verdict.reason, HasSubstr("hold 7 is acquired twice (events 0 and 2)"));
  EXPECT_EQ(overall(judgements), Validity::unknown);
}

TEST(Judge, WhenTheTimeIsOverTheRestIsUnknown) {
  HistoryBuilder builder;
  const History history = builder.quiet_cycles(12, 1).build();
  std::stop_source source;  // NOLINT(misc-const-correctness): stopping changes it, whatever its signature says
  source.request_stop();
  for (const Judgement& judgement : judge(history, lock_checkers({}), {.stop = source.get_token(), .bytes = 0})) {
    EXPECT_EQ(judgement.verdict.validity, Validity::unknown) << judgement.name;
  }
}

TEST(Judge, OverallTakesTheWorstNewsThatCounts) {
  const Judgement service = made("service", Validity::valid);
  const Judgement clients = made("clients", Validity::valid);
  EXPECT_EQ(overall(std::vector{service, clients}), Validity::valid);
  EXPECT_EQ(overall(std::vector{service, clients, made("ownership", Validity::unknown, 0)}), Validity::valid);
  EXPECT_EQ(overall(std::vector{service, made("clients", Validity::unknown, 0)}), Validity::unknown);
  EXPECT_EQ(overall(std::vector{service, clients, made("ownership", Validity::invalid)}), Validity::invalid);
  EXPECT_EQ(overall(std::vector<Judgement>{}), Validity::unknown);

  Judgement inapplicable = made("token-order", Validity::invalid);
  inapplicable.verdict.applicable = false;
  EXPECT_EQ(overall(std::vector{service, clients, inapplicable}), Validity::valid);

  Judgement unhealed = clients;
  unhealed.verdict.detail["faults"] = {{"not_effective", Value::array()}, {"not_healed", {4}}};
  EXPECT_EQ(overall(std::vector{service, unhealed}), Validity::unknown);
  EXPECT_EQ(overall(std::vector{unhealed, made("resource", Validity::invalid)}), Validity::invalid);
}

TEST(Registry, NamesAreUniqueAndAgreeWithTheCheckers) {
  std::set<std::string_view> names;
  for (const CheckerEntry& entry : lock_checker_table()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(entry.make({})->name(), entry.name);
    EXPECT_FALSE(entry.title.empty());
    EXPECT_FALSE(entry.summary.empty());
  }
  EXPECT_EQ(checker_title("ownership"), "ownership");
  EXPECT_EQ(checker_title("deadlock-freedom"), "deadlock freedom");
  EXPECT_EQ(checker_title("no-such"), "no-such");
}

}  // namespace
}  // namespace holdfast
