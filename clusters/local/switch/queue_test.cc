#include <gtest/gtest.h>

#include "clusters/local/switch/delay_queue.h"
#include "clusters/local/switch/lateness.h"

namespace holdfast {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DelayQueue, LeavesByTimeAndThenInOrderOfArrival) {
  DelayQueue queue;
  const std::array<std::uint8_t, 4> bytes = {1, 2, 3, 4};
  for (const int due : {30, 10, 20, 10}) {
    EXPECT_TRUE(queue.push(milliseconds(due), static_cast<std::size_t>(due), std::span(bytes).first(3)));
  }
  std::vector<std::pair<SwitchTime, std::uint64_t>> order;
  while (!queue.empty()) {
    DelayQueue::Entry entry = queue.pop();
    EXPECT_EQ(entry.frame().size(), 3U);
    EXPECT_EQ(entry.frame()[2], 3);
    order.emplace_back(entry.due, entry.number);
    queue.give_back(std::move(entry));
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.front(), (std::pair<SwitchTime, std::uint64_t>(milliseconds(10), 2)));
}

TEST(DelayQueue, FreedLinksLeaveAtOnceTheOthersWait) {
  DelayQueue queue;
  const std::array<std::uint8_t, 1> bytes = {9};
  for (int i = 0; i < 10; ++i) queue.push(seconds(100 - i), static_cast<std::size_t>(i % 2), bytes);
  queue.release(seconds(1), [](std::size_t link) { return link == 1; });
  std::uint64_t before = 0;
  for (int i = 0; i < 5; ++i) {
    const DelayQueue::Entry entry = queue.pop();
    EXPECT_EQ(entry.due, seconds(1));
    EXPECT_EQ(entry.link, 1U);
    EXPECT_GT(entry.number, before) << "they leave in the order in which they came";
    before = entry.number;
  }
  EXPECT_GT(queue.next_due(), seconds(90));
}

TEST(DelayQueue, RefusesWhenTooMuchIsOnItsWay) {
  DelayQueue queue;
  const std::array<std::uint8_t, 1> bytes = {9};
  std::size_t taken = 0;
  while (queue.push(seconds(1), 0, bytes)) ++taken;
  EXPECT_EQ(taken, 65536U);
}

TEST(Lateness, QuantilesAreWithinAnEighth) {
  Lateness lateness;
  for (int i = 1; i <= 1000; ++i) lateness.add(microseconds(i));
  EXPECT_EQ(lateness.count(), 1000U);
  EXPECT_GE(lateness.quantile(0.5), microseconds(500));
  EXPECT_LE(lateness.quantile(0.5), microseconds(500 * 9 / 8));
  EXPECT_GE(lateness.quantile(0.99), microseconds(990));
  EXPECT_LE(lateness.quantile(0.99), microseconds(990 * 9 / 8));
  lateness.add(std::chrono::hours(5));
  EXPECT_GT(lateness.quantile(1), std::chrono::minutes(10));
  EXPECT_EQ(Lateness().quantile(0.99).count(), 0);
}

}  // namespace
}  // namespace holdfast
