#include "checkers/lock_history.h"

#include <gtest/gtest.h>

#include "checkers/history_builder.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;
using std::chrono::milliseconds;

TEST(LockHistory, GathersEverythingOfAHold) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 12, 600).at(1).granted(1, 17).at(2).read(1, 12, 17).at(3).value(1, 0);
  builder.at(200).note(1, "renewing", {{"hold", 12}}).at(201).note(1, "renewed", {{"hold", 12}});
  builder.at(300).write(1, 12, 0, 5, 17).at(301).written(1).at(310).release(1, 12).at(311).released(1);
  const History history = builder.build();
  const LockHistory locks = lock_history(history, {});
  ASSERT_EQ(locks.keys.at("L1").holds.size(), 1U);
  const Hold& hold = locks.keys.at("L1").holds[0];
  EXPECT_EQ(hold.id, 12U);
  EXPECT_EQ(hold.token, 17);
  EXPECT_EQ(hold.lease, Time(milliseconds(600)));
  EXPECT_EQ(hold.accesses.size(), 2U);
  EXPECT_EQ(hold.renewals.size(), 1U);
  EXPECT_EQ(hold.renewals[0].window.from, milliseconds(100));
  EXPECT_EQ(hold.renewals[0].window.to, milliseconds(201));
  EXPECT_EQ(hold.lease_end(), milliseconds(100 + 584));
  EXPECT_EQ(hold.believed.from, milliseconds(1));
  EXPECT_EQ(hold.believed.to, milliseconds(310));
  EXPECT_EQ(hold.certain().to, milliseconds(310));
  EXPECT_EQ(hold.describe(), "process 1 (hold 12)");
}

TEST(LockHistory, CertaintyEndsWithTheLeaseWhileBeliefGoesOn) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 600).at(1).granted(1).at(900).release(1, 1).at(901).not_held(1);
  const History history = builder.build();
  const LockHistory locks = lock_history(history, {});
  const Hold& hold = locks.keys.at("L1").holds[0];
  EXPECT_EQ(hold.certain().to, milliseconds(584));
  EXPECT_EQ(hold.believed.to, milliseconds(900));
}

TEST(LockHistory, RefusedAcquiresAreAttemptsAndTheirReleasesStrays) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).refused(1).at(2).release(1, 1).at(3).not_held(1);
  const History history = builder.build();
  const LockHistory locks = lock_history(history, {});
  const LockKey& key = locks.keys.at("L1");
  EXPECT_TRUE(key.holds.empty());
  EXPECT_EQ(key.attempts.size(), 1U);
  EXPECT_EQ(key.strays.size(), 1U);
}

TEST(LockHistory, WithoutHoldIdsAProcessReleasesWhatItAcquiredLast) {
  std::vector<Event> events;
  const auto add = [&](EventType type, int process, const char* f) {
    Event event;
    event.index = events.size();
    event.time = milliseconds(events.size());
    event.type = type;
    event.process = Process{process};
    event.f = f;
    events.push_back(event);
  };
  for (int round = 0; round < 2; ++round) {
    add(EventType::invoke, 1, "acquire");
    add(EventType::ok, 1, "acquire");
    add(EventType::invoke, 1, "release");
    add(EventType::ok, 1, "release");
  }
  const History history(std::move(events));
  const LockHistory locks = lock_history(history, {});
  const LockKey& key = locks.keys.at("");
  ASSERT_EQ(key.holds.size(), 2U);
  EXPECT_EQ(key.holds[0].releases.size(), 1U);
  EXPECT_EQ(key.holds[1].releases.size(), 1U);
  EXPECT_EQ(key.holds[1].describe(), "process 1 (its acquire of event 4)");
}

TEST(LockHistory, WhoAsksAgainNoLongerBelieves) {
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1).at(1).granted(1).at(50).acquire(1, 2).at(51).refused(1).at(90).acquire(2, 3);
  const History history = builder.build();
  const LockHistory locks = lock_history(history, {});
  EXPECT_EQ(locks.keys.at("L1").holds[0].believed.to, milliseconds(50));
}

TEST(LockHistory, TimesThatNeverComeDoNotOverflow) {
  EXPECT_EQ(later_by(kNever, Time(5)), kNever);
  EXPECT_EQ(later_by(Time(5), kNever), kNever);
  EXPECT_EQ(later_by(Time(5), Time(6)), Time(11));
  EXPECT_EQ(certain_lease(milliseconds(5)), Time{});
  HistoryBuilder builder;
  builder.at(0).acquire(1, 1, 2'000'000'000).at(1).granted(1);
  const History history = builder.build();
  EXPECT_GT(lock_history(history, {}).keys.at("L1").holds[0].lease_end(), milliseconds(1'900'000'000));
}

}  // namespace
}  // namespace holdfast
