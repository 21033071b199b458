// Disk faults on real nodes with a real redis-server: what it acknowledged, and what of that is left.
#include "nemesis/disk.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "clusters/local/world.h"
#include "harness/disk.h"
#include "harness/error.h"
#include "nemesis/stage_test.h"

namespace holdfast {
namespace {

using std::chrono::seconds;

// Loop devices that are in use, by the file behind them.
std::set<std::string> loop_devices() {
  std::set<std::string> used;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/block")) {
    std::ifstream in(entry.path() / "loop/backing_file");
    std::string file;
    if (std::getline(in, file)) used.insert(entry.path().filename().string() + " " + file);
  }
  return used;
}

bool has_control_group(pid_t controller) {
  return std::filesystem::exists("/sys/fs/cgroup/blkio/holdfast-disk-" + std::to_string(controller) + ".n1");
}

class DiskFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    if (::geteuid() != 0 || ::access("/dev/loop-control", W_OK) != 0) GTEST_SKIP() << "no loop devices here";
    devices_before = loop_devices();
    stage = std::make_unique<TestStage>(LocalClusterOptions{1, 1, HOLDFAST_PROGRAM_FOLDER},
                                        [](Cluster& cluster) { make_disk_power("server")->prepare(cluster); });
  }
  void TearDown() override {
    stage.reset();
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    while (loop_devices() != devices_before && std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_EQ(loop_devices(), devices_before) << "a loop device was left behind";
  }
  // As many acknowledged increments; the last one's answer.
  long increments(int count) {
    const std::string script = "for i in $(seq " + std::to_string(count) + "); do echo incr n; done | redis-cli -h " +
                               node().address() + " | tail -n 1";
    return std::stol(node().must_run({{"sh", "-c", script}, {}}, seconds(60)).output);
  }
  long counted() {
    const std::string answer = stage->redis("get n");
    return answer.empty() ? 0 : std::stol(answer);
  }
  [[nodiscard]] Node& node() const { return *stage->cluster().servers()[0]; }
  [[nodiscard]] bool ready() const { return stage->server().ready(node()); }

  std::set<std::string> devices_before;
  std::unique_ptr<TestStage> stage;
  Rng rng{1};
};

TEST_F(DiskFaultsTest, PowerLossKeepsWhatWasSyncedBeforeTheAnswer) {
  EXPECT_EQ(stage->redis("config get appendfsync"), "appendfsync\nalways");
  EXPECT_EQ(increments(500), 500);
  auto fault = make_disk_power("server")->inject(*stage, {}, rng);
  EXPECT_TRUE(fault->effect().seen) << fault->effect().evidence;
  EXPECT_FALSE(ready());
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_EQ(counted(), 500);
}

TEST_F(DiskFaultsTest, PowerLossTakesWhatWasAcknowledgedAndNotSynced) {
  EXPECT_EQ(increments(10), 10);
  EXPECT_EQ(stage->redis("config set appendfsync no"), "OK");
  EXPECT_EQ(increments(500), 510);
  auto fault = make_disk_power("server")->inject(*stage, {}, rng);
  EXPECT_TRUE(fault->effect().seen) << fault->effect().evidence;
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_GE(counted(), 10);
  EXPECT_LT(counted(), 510) << "nothing was lost";
}

// Once a second is too seldom: power is cut in the middle of a stream of acknowledged writes.
TEST_F(DiskFaultsTest, PowerLossTakesTheLastSecondOfEverysec) {
  long lost = 0;
  for (int round = 0; round < 5 && lost == 0; ++round) {
    EXPECT_EQ(stage->redis("config set appendfsync everysec"), "OK");
    const long acknowledged = increments(2000);
    auto fault = make_disk_power("server")->inject(*stage, {}, rng);
    EXPECT_TRUE(fault->effect().seen);
    EXPECT_TRUE(fault->heal().seen);
    lost = acknowledged - counted();
  }
  EXPECT_GT(lost, 0);
}

// The twin: a killed process loses nothing, whatever it synced.
TEST_F(DiskFaultsTest, AKillAloneLosesNothing) {
  EXPECT_EQ(stage->redis("config set appendfsync no"), "OK");
  EXPECT_EQ(increments(500), 500);
  stage->server().kill(node());
  stage->server().start(node());
  EXPECT_EQ(counted(), 500);
}

TEST_F(DiskFaultsTest, AFullDiskRefusesWritesAndIsEmptiedAgain) {
  EXPECT_EQ(increments(10), 10);
  auto fault = make_disk_full("server")->inject(*stage, {}, rng);
  const Effect effect = fault->effect();
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_EQ(effect.evidence.at("write"), "No space left on device");
  const CommandResult big = node().run(
      {{"sh", "-c", "head -c 100000 /dev/zero | redis-cli -h " + node().address() + " -x set big"}, {}}, seconds(20));
  EXPECT_THAT(big.output, testing::Not(testing::HasSubstr("OK"))) << "acknowledged though it cannot have been synced";
  const Effect healed = fault->heal();
  EXPECT_TRUE(healed.seen) << healed.evidence;
  EXPECT_EQ(increments(1), 11);
}

TEST_F(DiskFaultsTest, ADeadDiskEndsServiceAndComesBack) {
  EXPECT_EQ(increments(10), 10);
  auto fault = make_disk_dead("server")->inject(*stage, {}, rng);
  const Effect effect = fault->effect();
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_EQ(effect.evidence.at("write"), "Input/output error");
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_EQ(increments(1), 11);
}

TEST_F(DiskFaultsTest, AReadOnlyDiskComesBackWritable) {
  EXPECT_EQ(increments(10), 10);
  auto fault = make_disk_read_only("server")->inject(*stage, {}, rng);
  const Effect effect = fault->effect();
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_EQ(effect.evidence.at("write"), "Read-only file system");
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_EQ(increments(1), 11);
}

TEST_F(DiskFaultsTest, ASlowDiskIsAsSlowAsAskedOrRefusedByName) {
  std::unique_ptr<ActiveFault> fault;
  try {
    fault = make_disk_slow("server")->inject(*stage, {}, rng);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("control group"));
    return;
  }
  EXPECT_TRUE(has_control_group(::getpid()));
  const Effect effect = fault->effect();
  EXPECT_TRUE(effect.seen) << effect.evidence;
  const auto start = std::chrono::steady_clock::now();
  const long answers = increments(50);  // each is synced before it is answered
  EXPECT_EQ(answers, 50);
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(800)) << "50 writes a second";
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_FALSE(has_control_group(::getpid()));
}

TEST_F(DiskFaultsTest, DestructionAloneHeals) {
  EXPECT_EQ(increments(10), 10);
  for (const auto& make : {make_disk_power, make_disk_full, make_disk_read_only, make_disk_dead}) {
    const auto fault = make("server")->inject(*stage, {}, rng);
  }
  EXPECT_TRUE(ready());
  EXPECT_EQ(increments(1), 11);
}

// The controller here is a child of ours, killed in cold blood while a fault is in place.
TEST_F(DiskFaultsTest, NothingIsLeftOfAKilledController) {
  stage.reset();
  for (const auto& make : {make_disk_power, make_disk_full, make_disk_read_only, make_disk_dead, make_disk_slow}) {
    std::array<int, 2> told{};
    ASSERT_EQ(::pipe(told.data()), 0);
    const pid_t controller = ::fork();
    if (controller == 0) {
      if (::unshare(CLONE_NEWNET) != 0) ::_exit(1);  // or it would share the private world of the tests above
      TestStage doomed({1, 1, HOLDFAST_PROGRAM_FOLDER}, [&](Cluster& cluster) { make("")->prepare(cluster); });
      std::unique_ptr<ActiveFault> fault;
      char done = 'y';
      try {
        fault = make("server")->inject(doomed, {}, rng);
      } catch (const Error&) {
        done = 'n';  // no control group for a slow disk: then just the disk is there
      }
      if (::write(told[1], &done, 1) != 1) ::_exit(1);
      ::pause();
      ::_exit(1);
    }
    char done = 0;
    EXPECT_EQ(::read(told[0], &done, 1), 1);
    EXPECT_NE(loop_devices(), devices_before);
    for (const int end : told) ::close(end);
    ::kill(controller, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(controller, &status, 0), controller);
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    while ((loop_devices() != devices_before || has_control_group(controller)) &&
           std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_EQ(loop_devices(), devices_before);
    EXPECT_FALSE(has_control_group(controller));
  }
}

TEST_F(DiskFaultsTest, ANodeInUseGetsNoDisk) {
  TestStage without({1, 1, HOLDFAST_PROGRAM_FOLDER});
  EXPECT_THROW(make_disk_full("server")->prepare(without.cluster()), Error);
}

}  // namespace
}  // namespace holdfast
