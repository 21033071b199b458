// Each fault on real nodes with a real server: its effect is seen, it heals, and its destruction alone heals it, too.
#include <gmock/gmock.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "clusters/local/world.h"
#include "harness/error.h"
#include "nemesis/kill.h"
#include "nemesis/partition.h"
#include "nemesis/pause.h"
#include "nemesis/registry.h"
#include "nemesis/schedule.h"
#include "nemesis/stage_test.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    stage = std::make_unique<TestStage>();
  }
  std::unique_ptr<TestStage> stage;
  Rng rng{1};
};

TEST_F(FaultsTest, PausedHolderIsStoppedAndGoesOn) {
  auto fault = make_pause("holder")->inject(*stage, 1, rng);
  EXPECT_TRUE(fault->effect().seen);
  EXPECT_TRUE(stage->paused_);
  EXPECT_EQ(stage->client(1).process->state(), ProcessState::stopped);
  EXPECT_EQ(stage->client(0).process->state(), ProcessState::running);
  EXPECT_EQ(fault->target(), (Value{{"process", 1}, {"lane", 1}, {"node", "c2"}}));
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_FALSE(stage->paused_);
  EXPECT_EQ(stage->client(1).process->state(), ProcessState::running);
}

TEST_F(FaultsTest, DestructionAloneHeals) {
  {
    const auto fault = make_pause("holder")->inject(*stage, 0, rng);
  }
  EXPECT_EQ(stage->client(0).process->state(), ProcessState::running);
  {
    const auto fault = make_pause("server")->inject(*stage, {}, rng);
  }
  EXPECT_TRUE(stage->server().ready(*stage->cluster().servers()[0]));
  {
    const auto fault = make_kill("server")->inject(*stage, {}, rng);
  }
  EXPECT_TRUE(stage->server().ready(*stage->cluster().servers()[0]));
  {
    const auto fault = make_partition("server")->inject(*stage, {}, rng);
  }
  EXPECT_TRUE(stage->client_reaches_server(0));
}

TEST_F(FaultsTest, PausedServerDoesNotAnswerAndComesBack) {
  auto fault = make_pause("server")->inject(*stage, {}, rng);
  EXPECT_TRUE(fault->effect().seen);
  EXPECT_FALSE(stage->client_reaches_server(0));
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_TRUE(stage->client_reaches_server(0));
}

TEST_F(FaultsTest, KilledHolderEndsAndIsReplaced) {
  const auto before = stage->client(0).process;
  auto fault = make_kill("holder")->inject(*stage, 0, rng);
  EXPECT_TRUE(fault->effect().seen);
  EXPECT_EQ(before->state(), ProcessState::gone);
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_EQ(stage->client(0).process->state(), ProcessState::running);
}

TEST_F(FaultsTest, KilledServerIsGoneAndComesBack) {
  auto fault = make_kill("server")->inject(*stage, {}, rng);
  EXPECT_TRUE(fault->effect().seen);
  EXPECT_FALSE(stage->client_reaches_server(1));
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_TRUE(stage->client_reaches_server(1));
}

TEST_F(FaultsTest, PartitionedHolderIsCutOffAloneAndComesBack) {
  auto fault = make_partition("holder")->inject(*stage, 0, rng);
  EXPECT_FALSE(fault->effect().seen) << "nothing was sent yet: a cut that stopped nothing is no fault";
  EXPECT_FALSE(stage->client_reaches_server(0));
  EXPECT_TRUE(stage->client_reaches_server(1));
  EXPECT_TRUE(fault->effect().seen);
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_TRUE(stage->client_reaches_server(0));
}

TEST_F(FaultsTest, AnyGrudgeWorksOneWayToo) {
  auto fault = make_partition("n1>c2")->inject(*stage, {}, rng);
  EXPECT_FALSE(stage->client_reaches_server(1));
  EXPECT_TRUE(stage->client_reaches_server(0));
  EXPECT_TRUE(fault->effect().seen);
  fault.reset();
  EXPECT_THROW(make_partition("n1>c9")->inject(*stage, {}, rng), UsageError);
  auto halves = make_partition("halves")->inject(*stage, {}, rng);
  EXPECT_EQ(halves->target().at("links").size(), 8U);  // 2 of 4 nodes on each side, both ways
}

Event grant(Recorder& recorder, std::int64_t process) {
  Event invoke{.type = EventType::invoke, .process = Process{process}, .f = "acquire", .key = "L1"};
  recorder.append(invoke);
  Event event{.type = EventType::ok, .process = Process{process}, .f = "acquire", .key = "L1"};
  recorder.append(event);
  return event;
}

// The schedule strikes at the event, holds the lane until the fault is in place, and heals soon after another client
// was granted the lock.
TEST_F(FaultsTest, ScheduleStrikesAtTheEventAndHealsAtTheNextGrant) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("holdfast-schedule-" + std::to_string(::getpid()));
  std::filesystem::remove(file);
  Recorder recorder(file);
  static const SystemEntry system{.name = "test"};
  const auto nemesis = make_nemesis(parse_fault_plans({"pause:holder@acquired"}, system),
                                    {.seed = 3, .lease = seconds(100), .first = Time{1}, .gap = milliseconds(1)});
  std::atomic<int> released = -1;
  nemesis->start(*stage, recorder, [&](std::size_t lane) { released = static_cast<int>(lane); });
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  while (!nemesis->observe(0, grant(recorder, 0))) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  while (released != 0) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_EQ(stage->client(0).process->state(), ProcessState::stopped);
  EXPECT_FALSE(nemesis->observe(1, grant(recorder, 1)));  // the lease of 100 s would keep it stopped
  while (stage->client(0).process->state() != ProcessState::running)
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  nemesis->finish();
  recorder.close();
  const std::vector<FaultRecord> records = fault_records(read_history(file).history);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].effective);
  EXPECT_TRUE(records[0].healed);
  EXPECT_EQ(records[0].process, Process{0});
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace holdfast
