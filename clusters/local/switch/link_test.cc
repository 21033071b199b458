// Without any interface: what a link does to its frames, in virtual time.
#include "clusters/local/switch/link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace holdfast {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SwitchTime kStart = seconds(1000);

std::vector<Fate> fates(LinkModel& link, const LinkPolicy& policy, int frames, std::size_t bytes = 100) {
  std::vector<Fate> all;
  for (int i = 0; i < frames; ++i) all.push_back(link.decide(policy, kStart + milliseconds(i), bytes));
  return all;
}

std::vector<bool> lost(const std::vector<Fate>& all) {
  std::vector<bool> result;
  for (const Fate& fate : all) result.push_back(fate.dropped);
  return result;
}

TEST(LinkModel, NothingAskedForNothingDone) {
  LinkModel link(1, 0, 1);
  for (const Fate& fate : fates(link, {}, 100)) EXPECT_FALSE(fate.dropped || fate.duplicated || fate.corrupted);
  EXPECT_EQ(link.counts.seen, 100U);
  EXPECT_EQ(link.counts.dropped + link.counts.delayed + link.counts.reordered, 0U);
}

TEST(LinkModel, TheSameSeedLosesTheSameFramesOfALinkAndOnlyOfThatLink) {
  const LinkPolicy lossy{.loss = 0.3};
  LinkModel first(7, 1, 2);
  LinkModel again(7, 1, 2);
  LinkModel back(7, 2, 1);
  LinkModel other_seed(8, 1, 2);
  const auto expected = lost(fates(first, lossy, 1000));
  EXPECT_EQ(lost(fates(again, lossy, 1000)), expected);
  EXPECT_NE(lost(fates(back, lossy, 1000)), expected);
  EXPECT_NE(lost(fates(other_seed, lossy, 1000)), expected);
}

TEST(LinkModel, OneKindOfBadLuckDoesNotChangeAnother) {
  LinkModel plain(7, 1, 2);
  LinkModel mixed(7, 1, 2);
  const LinkPolicy more{
      .delay = milliseconds(3), .jitter = milliseconds(1), .loss = 0.3, .duplicate = 0.5, .corrupt = 0.5};
  EXPECT_EQ(lost(fates(plain, {.loss = 0.3}, 1000)), lost(fates(mixed, more, 1000)));
}

TEST(LinkModel, ChancesAreWhatWasAskedFor) {
  LinkModel link(3, 0, 1);
  int corrupted = 0;
  for (const Fate& fate : fates(link, {.loss = 0.1, .duplicate = 0.2, .reorder = 0.25, .corrupt = 0.05}, 20000)) {
    corrupted += fate.corrupted ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(link.counts.dropped), 2000, 150);
  EXPECT_NEAR(static_cast<double>(link.counts.duplicated), 3600, 180);
  EXPECT_NEAR(static_cast<double>(link.counts.reordered), 4500, 200);
  EXPECT_NEAR(corrupted, 900, 100);
}

TEST(LinkModel, ACutLinkDropsAll) {
  LinkModel link(3, 0, 1);
  for (const Fate& fate : fates(link, {.cut = true}, 50)) EXPECT_TRUE(fate.dropped);
  EXPECT_EQ(link.counts.dropped, 50U);
}

TEST(LinkModel, DelayIsExactAndJitterStaysInItsBoundsAndInOrder) {
  LinkModel exact(3, 0, 1);
  EXPECT_EQ(exact.decide({.delay = microseconds(1234)}, kStart, 60).due, kStart + microseconds(1234));
  LinkModel link(3, 0, 1);
  const LinkPolicy policy{.delay = milliseconds(50), .jitter = milliseconds(10)};
  SwitchTime before{};
  double sum = 0;
  for (int i = 0; i < 5000; ++i) {
    const SwitchTime now = kStart + milliseconds(100) * i;  // far apart: the order costs nothing
    const SwitchTime late = link.decide(policy, now, 60).due - now;
    EXPECT_GE(late, milliseconds(40));
    EXPECT_LE(late, milliseconds(60));
    sum += static_cast<double>(late.count());
  }
  EXPECT_NEAR(sum / 5000, 50e6, 5e5);
  for (int i = 0; i < 1000; ++i) {
    const SwitchTime due = link.decide(policy, kStart + seconds(1000) + microseconds(i), 60).due;
    EXPECT_GE(due, before);
    before = due;
  }
}

TEST(LinkModel, SpreadsHaveTheirShape) {
  for (const auto kind : {LinkPolicy::Spread::normal, LinkPolicy::Spread::tail}) {
    LinkModel link(3, 0, 1);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < 20000; ++i) {
      const SwitchTime now = kStart + seconds(i);
      const SwitchTime due =
          link.decide({.delay = milliseconds(100), .jitter = milliseconds(10), .spread = kind}, now, 60).due;
      const double off = static_cast<double>((due - now).count()) / 1e6 - 100;
      sum += off;
      squares += off * off;
    }
    const double mean = sum / 20000;
    EXPECT_NEAR(mean, kind == LinkPolicy::Spread::normal ? 0 : 10, 0.5);
    EXPECT_NEAR(std::sqrt(squares / 20000 - mean * mean), 10, 0.5);
  }
}

TEST(LinkModel, AReorderedFrameIsOvertaken) {
  LinkModel link(3, 0, 1);
  const LinkPolicy policy{.reorder = 0.25, .reorder_by = milliseconds(5)};
  int held = 0;
  for (int i = 0; i < 1000; ++i) {
    const SwitchTime now = kStart + milliseconds(i);
    const SwitchTime due = link.decide(policy, now, 60).due;
    held += due == now + milliseconds(5) ? 1 : 0;
    EXPECT_TRUE(due == now || due == now + milliseconds(5));
  }
  EXPECT_EQ(static_cast<std::uint64_t>(held), link.counts.reordered);
  EXPECT_GT(held, 200);
}

TEST(LinkModel, ARateSpacesFramesAndDropsWhatIsASecondBehind) {
  LinkModel link(3, 0, 1);
  const LinkPolicy policy{.bits_per_second = 8000};  // 1000 bytes a second
  EXPECT_EQ(link.decide(policy, kStart, 100).due, kStart + milliseconds(100));
  EXPECT_EQ(link.decide(policy, kStart, 100).due, kStart + milliseconds(200));
  EXPECT_EQ(link.decide(policy, kStart + seconds(5), 100).due, kStart + milliseconds(5100));  // an idle line is free
  int passed = 0;
  for (int i = 0; i < 100; ++i) passed += link.decide(policy, kStart + seconds(10), 100).dropped ? 0 : 1;
  EXPECT_EQ(passed, 11);
  EXPECT_EQ(link.counts.dropped, 89U);
  link.forget_backlog();
  EXPECT_FALSE(link.decide(policy, kStart + seconds(10), 100).dropped);
}

}  // namespace
}  // namespace holdfast
