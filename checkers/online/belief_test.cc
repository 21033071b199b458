#include <gtest/gtest.h>

#include "checkers/history_builder.h"
#include "checkers/online/watch.h"
#include "checkers/oracle/oracle.h"

namespace holdfast::online {
namespace {

using ::holdfast::testing::HistoryBuilder;

std::optional<Alarm> first_alarm(const History& history) {
  const auto watch = watch_belief();
  for (const Event& event : history.events()) {
    if (auto alarm = watch->see(event)) return alarm;
  }
  return std::nullopt;
}

// The first event up to which the checker of whole histories finds two believers.
std::optional<std::uint64_t> first_broken_prefix(const History& history) {
  const auto checkers = lock_checkers({});
  const auto clients = std::ranges::find(checkers, "clients", [](const auto& checker) { return checker->name(); });
  std::vector<Event> prefix;
  for (const Event& event : history.events()) {
    prefix.push_back(event);
    if (!(*clients)->check(History(prefix), {}).findings.empty()) return event.index;
  }
  return std::nullopt;
}

TEST(BeliefWatch, AlarmsAtTheFirstEventAfterTheSecondGrant) {
  HistoryBuilder builder;
  builder.at(1).acquire(1, 1).at(2).granted(1).at(700).acquire(2, 2).at(701).granted(2).at(702).read(2, 2);
  const History history = builder.build();
  const auto alarm = first_alarm(history);
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->event, 4U);
  EXPECT_EQ(alarm->because,
            "L1: process 2 (hold 2) was granted the lock (event 3) while process 1 (hold 1) believed to hold it "
            "(event 1)");
}

TEST(BeliefWatch, IsSilentWhereOneEndsAsTheOtherBegins) {
  HistoryBuilder builder;
  builder.at(1).acquire(1, 1).at(2).granted(1).at(3).acquire(2, 2).at(4).granted(2).release(1, 1).at(5).released(1);
  EXPECT_FALSE(first_alarm(builder.build()));
}

TEST(BeliefWatch, DeathAndLossEndBelief) {
  HistoryBuilder died;
  died.at(1).acquire(1, 1).at(2).granted(1).at(3).exited(1).at(700).acquire(2, 2).at(701).granted(2).at(800).read(2, 2);
  EXPECT_FALSE(first_alarm(died.build()));
  HistoryBuilder lost;
  lost.at(1).acquire(1, 1).at(2).granted(1).at(3).note(1, "lost", {{"hold", 1}});
  lost.at(700).acquire(2, 2).at(701).granted(2).at(800).read(2, 2);
  EXPECT_FALSE(first_alarm(lost.build()));
}

// Random histories of three processes and two locks: whatever a client may see in whatever order.
History random_history(Rng& rng) {
  struct Client {
    std::string open;
    std::string key;
    int hold = 0;
    bool gone = false;
  };
  std::array<Client, 3> clients;
  HistoryBuilder builder;
  double now = 0;
  int holds = 0;
  for (std::uint64_t i = 0, count = 6 + rng.below(8); i < count; ++i) {
    now += static_cast<double>(rng.below(2));  // ties are common
    const int process = static_cast<int>(rng.below(clients.size()));
    Client& client = clients[static_cast<std::size_t>(process)];
    if (client.gone) continue;
    builder.at(now);
    if (client.open == "acquire") {
      builder.on(client.key);
      rng.chance(0.8) ? builder.granted(process) : builder.refused(process);
      client.open.clear();
    } else if (client.open == "release") {
      builder.on(client.key).released(process);
      client.open.clear();
    } else if (client.hold != 0 && rng.chance(0.1)) {
      builder.on(client.key).note(process, "lost", {{"hold", client.hold}});
    } else if (rng.chance(0.05)) {
      builder.exited(process);
      client.gone = true;
    } else if (client.hold != 0 && rng.chance(0.6)) {
      builder.on(client.key).release(process, client.hold);
      client.open = "release";
      client.hold = 0;
    } else {
      client.key = rng.chance(0.8) ? "L1" : "L2";
      builder.on(client.key).acquire(process, client.hold = ++holds);
      client.open = "acquire";
    }
  }
  return builder.build();
}

TEST(BeliefWatch, AgreesWithJudgingEveryPrefix) {
  std::uint64_t broken = 0;
  const std::uint64_t cases = oracle::random_cases();
  for (std::uint64_t i = 0; i < cases; ++i) {
    Rng rng = Rng(i).split("belief");
    const History history = random_history(rng);
    const auto alarm = first_alarm(history);
    const auto expected = first_broken_prefix(history);
    ASSERT_EQ(alarm ? std::optional(alarm->event) : std::nullopt, expected) << "history " << i;
    broken += expected ? 1 : 0;
  }
  EXPECT_GT(broken, cases / 20);
  EXPECT_LT(broken, cases * 9 / 10);
}

TEST(WatchFor, WhatNobodyCanJudgeBeforeItsEndHasNoWatch) {
  EXPECT_NE(watch_for("lock"), nullptr);
  EXPECT_NE(watch_for("register"), nullptr);
  EXPECT_EQ(watch_for("noop"), nullptr);
}

}  // namespace
}  // namespace holdfast::online
