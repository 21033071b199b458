// Shapes on real nodes' names: who can still reach whom.
#include "nemesis/links.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "clusters/local/world.h"
#include "harness/error.h"
#include "nemesis/stage_test.h"

namespace holdfast {
namespace {

class LinksTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    stage = std::make_unique<TestStage>(LocalClusterOptions{5, 3, HOLDFAST_PROGRAM_FOLDER});
  }
  std::vector<Link> links(const std::string& target, std::optional<std::size_t> lane = {}) {
    return resolve_links(target, *stage, lane, rng);
  }
  static bool cut(const std::vector<Link>& links, const std::string& from, const std::string& to) {
    return std::ranges::find(links, Link{from, to}) != links.end();
  }
  // Servers that this one reaches both ways, itself included.
  static std::vector<std::string> view(const std::vector<Link>& links, const std::string& server) {
    std::vector<std::string> reached;
    for (const std::string other : {"n1", "n2", "n3", "n4", "n5"}) {
      if (!cut(links, server, other) && !cut(links, other, server)) reached.push_back(other);
    }
    return reached;
  }

  std::unique_ptr<TestStage> stage;
  Rng rng{5};
};

TEST_F(LinksTest, HolderShapesHitTheHoldersNode) {
  EXPECT_EQ(links("holder", 1).size(), 10U);
  const auto replies = links("replies", 1);
  EXPECT_EQ(replies.size(), 5U);
  EXPECT_TRUE(cut(replies, "n3", "c2"));
  const auto requests = links("requests", 1);
  EXPECT_EQ(requests.size(), 5U);
  EXPECT_TRUE(cut(requests, "c2", "n3"));
}

TEST_F(LinksTest, TheHolderWithThePrimaryHasNobodyElse) {
  const auto found = links("with-primary", 0);
  const auto primary = std::ranges::find_if(stage->cluster().servers(),
                                            [&](const Node* node) { return !cut(found, "c1", node->name()); });
  ASSERT_NE(primary, stage->cluster().servers().end());
  EXPECT_EQ(view(found, (*primary)->name()), std::vector<std::string>{(*primary)->name()});
  EXPECT_TRUE(cut(found, "c2", (*primary)->name()));
  EXPECT_TRUE(cut(found, (*primary)->name(), "c3"));
  EXPECT_EQ(found.size(), 2U * 2U * 6U);  // two nodes from four servers and two clients, both ways
}

TEST_F(LinksTest, OneServerAloneOrDeafOrMute) {
  for (const char* shape : {"isolated", "primary"}) EXPECT_EQ(links(shape).size(), 14U) << shape;  // 4 + 3, both ways
  const auto deaf = links("deaf");
  EXPECT_EQ(deaf.size(), 7U);
  EXPECT_TRUE(std::ranges::all_of(deaf, [&](const Link& link) { return link.to == deaf[0].to; }));
  const auto mute = links("mute");
  EXPECT_EQ(mute.size(), 7U);
  EXPECT_TRUE(std::ranges::all_of(mute, [&](const Link& link) { return link.from == mute[0].from; }));
}

TEST_F(LinksTest, AMinorityAndAMajorityDoNotMeet) {
  for (int round = 0; round < 20; ++round) {
    const auto found = links("minority");
    std::vector<std::size_t> sizes;
    for (const std::string server : {"n1", "n2", "n3", "n4", "n5"}) sizes.push_back(view(found, server).size());
    std::ranges::sort(sizes);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 3, 3, 3}));
    for (const std::string client : {"c1", "c2", "c3"}) {
      EXPECT_THAT(view(found, client).size(), testing::AnyOf(2U, 3U)) << "each client is on one side";
    }
  }
}

TEST_F(LinksTest, InARingEachHasAMajorityOfItsOwn) {
  const auto found = links("ring");
  std::vector<std::vector<std::string>> views;
  for (const std::string server : {"n1", "n2", "n3", "n4", "n5"}) {
    views.push_back(view(found, server));
    EXPECT_EQ(views.back().size(), 3U);
  }
  std::ranges::sort(views);
  EXPECT_EQ(std::ranges::adjacent_find(views), views.end()) << "no two see the same";
}

TEST_F(LinksTest, OnlyTheBridgeReachesAll) {
  const auto found = links("bridge");
  std::vector<std::size_t> sizes;
  for (const std::string server : {"n1", "n2", "n3", "n4", "n5"}) sizes.push_back(view(found, server).size());
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 3, 3, 5}));
}

TEST_F(LinksTest, HalvesAndServerAndLinksByName) {
  EXPECT_EQ(links("halves").size(), 2U * 4U * 5U);  // nine nodes with the resource's
  EXPECT_EQ(links("server").size(), 6U);
  EXPECT_EQ(links("n1>n2"), (std::vector<Link>{{"n1", "n2"}}));
  EXPECT_THROW(links("n1>n9"), UsageError);
}

TEST_F(LinksTest, ShapesThatCannotBeAreRefusedBeforeTheRun) {
  for (const FaultTarget& target : link_targets()) check_shape(std::string(target.name), stage->cluster());
  stage.reset();
  const LocalCluster small(LocalClusterOptions{1, 1, HOLDFAST_PROGRAM_FOLDER});
  for (const char* shape : {"minority", "bridge", "ring"}) EXPECT_THROW(check_shape(shape, small), Error) << shape;
  check_shape("holder", small);
}

}  // namespace
}  // namespace holdfast
