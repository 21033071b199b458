#include "harness/network.h"

#include <gtest/gtest.h>

#include "harness/error.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;

class CuttingNetwork final : public Network {
 public:
  void cut(std::span<const CutLink> links) override { now_cut.assign(links.begin(), links.end()); }
  std::uint64_t dropped() override { return 7; }
  std::vector<CutLink> now_cut;
};

class ShapingNetwork final : public Network {
 public:
  void cut(std::span<const CutLink> /*links*/) override {}
  std::uint64_t dropped() override { return 0; }
  std::vector<ShapedLink> now;

 protected:
  void shape(std::span<const ShapedLink> links) override { now.assign(links.begin(), links.end()); }
};

TEST(Network, LayersComeAndGoAlone) {
  ShapingNetwork network;
  const LinkPolicy slow{.delay = milliseconds(10), .loss = 0.5};
  const auto first = network.impose({{{"a", "b"}, slow}, {{"b", "a"}, slow}});
  const auto second = network.impose({{{"a", "b"}, {.cut = true, .delay = milliseconds(5), .loss = 0.5}}});
  ASSERT_EQ(network.now.size(), 2U);
  EXPECT_EQ(network.now[0].link, (Link{"a", "b"}));
  EXPECT_EQ(network.now[0].policy, (LinkPolicy{.cut = true, .delay = milliseconds(15), .loss = 0.75}));
  EXPECT_EQ(network.now[1].policy, slow);
  network.lift(first);
  ASSERT_EQ(network.now.size(), 1U);
  EXPECT_EQ(network.now[0].policy.delay, milliseconds(5));
  network.lift(second);
  EXPECT_TRUE(network.now.empty());
  network.lift(second);
}

TEST(Network, TheNarrowerRateCounts) {
  EXPECT_EQ(on_top({.bits_per_second = 10}, {.bits_per_second = 0}).bits_per_second, 10U);
  EXPECT_EQ(on_top({.bits_per_second = 0}, {.bits_per_second = 7}).bits_per_second, 7U);
  EXPECT_EQ(on_top({.bits_per_second = 10}, {.bits_per_second = 7}).bits_per_second, 7U);
}

TEST(Network, OneThatOnlyCutsSaysSoAndKeepsWhatItHad) {
  CuttingNetwork network;
  network.impose({{{"a", "b"}, {.cut = true}}});
  EXPECT_EQ(network.now_cut, (std::vector<CutLink>{{"a", "b"}}));
  EXPECT_THROW(network.impose({{{"b", "a"}, {.delay = milliseconds(1)}}}), Error);
  const auto layer = network.impose({{{"b", "c"}, {.cut = true}}});
  EXPECT_EQ(network.now_cut, (std::vector<CutLink>{{"a", "b"}, {"b", "c"}}));
  network.lift(layer);
  EXPECT_EQ(network.now_cut, (std::vector<CutLink>{{"a", "b"}}));
  EXPECT_EQ(network.counts({}).dropped, 7U);
}

TEST(LinkCounts, ADifferenceIsNeverNegative) {
  const LinkCounts before{.seen = 5, .dropped = 9};
  const LinkCounts now{.seen = 8, .dropped = 2};
  EXPECT_EQ(now.since(before).seen, 3U);
  EXPECT_EQ(now.since(before).dropped, 2U);
}

}  // namespace
}  // namespace holdfast
