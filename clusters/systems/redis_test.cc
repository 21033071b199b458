// A real redis-server in a real node, through everything that the harness does to it.
#include "clusters/systems/redis.h"

#include <gmock/gmock.h>

#include <csignal>

#include "clusters/local/cluster.h"
#include "clusters/local/world.h"
#include "clusters/systems/registry.h"
#include "harness/error.h"

namespace holdfast {
namespace {

using std::chrono::seconds;

class RedisTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    cluster = std::make_unique<LocalCluster>(LocalClusterOptions{1, 1, HOLDFAST_PROGRAM_FOLDER});
  }
  [[nodiscard]] Node& node() const { return *cluster->servers()[0]; }
  [[nodiscard]] std::string command(const std::string& words) const {
    return node().must_run({{"sh", "-c", "redis-cli -h " + node().address() + " " + words}, {}}, seconds(5)).output;
  }

  std::unique_ptr<LocalCluster> cluster;
};

TEST_F(RedisTest, KeepsWhatItAcknowledgedThroughKillAndForgetsWhenWiped) {
  const auto redis = make_redis();
  redis->install(node());
  redis->start(node());
  EXPECT_TRUE(redis->ready(node()));
  EXPECT_TRUE(redis->version(node()).starts_with("7.")) << redis->version(node());
  EXPECT_EQ(redis->primaries(cluster->servers()).size(), 1U);
  EXPECT_EQ(command("set k v"), "OK\n");
  redis->kill(node());
  EXPECT_FALSE(redis->ready(node()));
  EXPECT_THROW(static_cast<void>(redis->process(node())), Error);
  redis->start(node());
  EXPECT_EQ(command("get k"), "v\n");
  redis->process(node()).signal(SIGSTOP);
  redis->stop(node());  // also a stopped one
  redis->wipe(node());
  redis->start(node());
  EXPECT_EQ(command("get k"), "\n");
  EXPECT_EQ(redis->logs(node()).size(), 1U);
  EXPECT_THAT(node().must_run({{"cat", redis->logs(node()).front()}, {}}, seconds(5)).output,
              testing::HasSubstr("Ready to accept connections"));
  redis->stop(node());
}

std::string why_not(Server& server, Node& node) {
  try {
    server.start(node);
  } catch (const Error& error) {
    return error.what();
  }
  return "it started";
}

TEST_F(RedisTest, ATakenPortIsNamed) {
  const auto first = make_redis();
  first->start(node());
  const auto second = make_redis();
  EXPECT_THAT(why_not(*second, node()), testing::AllOf(testing::HasSubstr("n1"), testing::HasSubstr(":6379 is taken")));
  first->stop(node());
  // A listener that is no redis-server: found out from what redis-server itself says.
  const auto resource = node().start_daemon(
      {{node().program_folder() + "/holdfast-resource", "--listen", node().address() + ":6379"}, {}},
      "/data/other.log");
  node().must_run({{"sh", "-c", "until grep -q ready /data/other.log; do :; done"}, {}}, seconds(5));
  EXPECT_THAT(why_not(*second, node()), testing::AllOf(testing::HasSubstr("n1"), testing::HasSubstr("6379"),
                                                       testing::HasSubstr("already in use")));
}

TEST(Systems, AreFoundByNameAndUnknownOnesAreExplained) {
  EXPECT_EQ(find_system("redis-setpx-lua").name, "redis-setpx-lua");
  try {
    find_system("redis-setpxlua");
    FAIL() << "an unknown system was found";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean redis-setpx-lua"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace holdfast
