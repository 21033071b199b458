// Clock faults on real nodes with a real redis-server: what a lease of it does when its clock lies.
#include "nemesis/clock.h"

#include <gmock/gmock.h>

#include <cmath>

#include "clusters/local/world.h"
#include "harness/error.h"
#include "nemesis/clock_drift.h"
#include "nemesis/clock_strobe.h"
#include "nemesis/stage_test.h"

namespace holdfast {
namespace {

using std::chrono::seconds;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class ClockFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    stage = std::make_unique<TestStage>(LocalClusterOptions{2, 1, HOLDFAST_PROGRAM_FOLDER});
  }
  // What redis-server itself takes for the time, less ours.
  double redis_ahead(std::size_t index) {
    const double before = now();
    const std::string said = stage->redis("time", index);  // seconds, then microseconds
    const double then = std::stod(said) + std::stod(said.substr(said.find('\n'))) / 1e6;
    return then - (before + now()) / 2;
  }
  [[nodiscard]] long ttl(std::size_t index) { return std::stol(stage->redis("pttl lock", index)); }
  void lock_both(const std::string& milliseconds) {
    for (const std::size_t index : {0U, 1U}) EXPECT_EQ(stage->redis("set lock me nx px " + milliseconds, index), "OK");
  }
  // A busy machine may keep the server from its clock for longer than a fault waits for it.
  static Effect effect_of(ActiveFault& fault) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(15);
    Effect effect = fault.effect();
    while (!effect.seen && std::chrono::steady_clock::now() < deadline) effect = fault.effect();
    return effect;
  }
  // The node that a fault hit, and the other one.
  static std::size_t hit(const ActiveFault& fault) { return fault.target().at("node") == "n1" ? 0 : 1; }

  std::unique_ptr<TestStage> stage;
  Rng rng{1};
};

TEST_F(ClockFaultsTest, AForwardJumpEndsALeaseEarlyOnThatNodeAlone) {
  lock_both("30000");
  const double machine =
      now() - std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  auto fault = make_clock("server")->inject(*stage, {}, rng);
  const std::size_t node = hit(*fault);
  const Effect effect = effect_of(*fault);
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_EQ(effect.evidence.at("seconds_ahead"), 60.0);
  EXPECT_EQ(effect.evidence.at("seconds_ahead_before"), 0.0);
  EXPECT_TRUE(effect.evidence.at("read_by_target"));
  EXPECT_EQ(ttl(node), -2) << "a lease of 30 s outlived a jump of 60 s";
  EXPECT_GT(ttl(1 - node), 0);
  EXPECT_NEAR(redis_ahead(node), 60, 2);
  EXPECT_NEAR(redis_ahead(1 - node), 0, 2);
  const double after =
      now() - std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(after, machine, 0.5) << "the machine's own clock was moved";
  const Effect healed = fault->heal();
  EXPECT_TRUE(healed.seen) << healed.evidence;
  EXPECT_NEAR(redis_ahead(node), 0, 2);
}

TEST_F(ClockFaultsTest, ABackwardJumpMakesALeaseLonger) {
  lock_both("30000");
  auto fault = make_clock_back("server")->inject(*stage, {}, rng);
  const std::size_t node = hit(*fault);
  EXPECT_TRUE(effect_of(*fault).seen);
  EXPECT_GT(ttl(node), 60'000);
  EXPECT_LE(ttl(1 - node), 30'000);
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_LE(ttl(node), 30'000);
}

TEST_F(ClockFaultsTest, ADriftIsMeasuredWithinOnePerCent) {
  for (const double rate : {0.5, -0.2, 9.0}) {
    auto fault = make_drift("server", rate, 0)->inject(*stage, {}, rng);
    const Effect effect = effect_of(*fault);
    EXPECT_TRUE(effect.seen) << effect.evidence;
    EXPECT_NEAR(effect.evidence.at("wall_rate").get<double>(), 1 + rate, std::abs(rate) / 100);
    EXPECT_EQ(effect.evidence.at("monotonic_rate"), 1.0);
    EXPECT_TRUE(fault->heal().seen);
  }
}

TEST_F(ClockFaultsTest, AFastWallClockEatsALease) {
  auto fault = make_drift("server", 99, 0)->inject(*stage, {}, rng);
  const std::size_t node = hit(*fault);
  lock_both("30000");
  const auto start = std::chrono::steady_clock::now();
  while (ttl(node) != -2) ASSERT_LT(std::chrono::steady_clock::now(), start + seconds(15));
  EXPECT_GT(ttl(1 - node), 0);
  fault.reset();
  EXPECT_NEAR(redis_ahead(node), 0, 2) << "destruction alone heals";
}

TEST_F(ClockFaultsTest, AllOfANodesTimeMayRunFastAndMonotonicKeepsIt) {
  auto fault = make_clock_rate("server")->inject(*stage, {}, rng);
  const Effect effect = effect_of(*fault);
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_NEAR(effect.evidence.at("monotonic_rate").get<double>(), 2, 0.01);
  const Effect healed = fault->heal();
  EXPECT_TRUE(healed.seen) << healed.evidence;
  EXPECT_GT(healed.evidence.at("monotonic_seconds_ahead").get<double>(), 0.01);
  EXPECT_EQ(healed.evidence.at("seconds_ahead"), 0.0);
}

TEST_F(ClockFaultsTest, AStrobeIsMetByTheServerAndEndsRight) {
  auto fault = make_clock_strobe("server")->inject(*stage, {}, rng);
  const std::size_t node = hit(*fault);
  const Effect effect = effect_of(*fault);
  EXPECT_TRUE(effect.seen) << effect.evidence;
  EXPECT_TRUE(fault->heal().seen);
  EXPECT_NEAR(redis_ahead(node), 0, 2);
  auto again = make_clock_strobe("server")->inject(*stage, {}, rng);
  again.reset();
  for (const std::size_t index : {0U, 1U}) EXPECT_NEAR(redis_ahead(index), 0, 2) << "destruction alone heals";
}

// cat never asks for the time, so nothing has happened to it, whatever was set; and it is not in the way of healing.
TEST_F(ClockFaultsTest, AClockThatNobodyReadsIsNoFault) {
  auto jump = make_clock("holder")->inject(*stage, 0, rng);
  EXPECT_EQ(jump->target(), (Value{{"process", 0}, {"lane", 0}, {"node", "c1"}}));
  EXPECT_FALSE(jump->effect().seen);
  EXPECT_FALSE(jump->effect().evidence.at("read_by_target"));
  EXPECT_TRUE(jump->heal().seen);
  auto drift = make_clock_drift("holder")->inject(*stage, 0, rng);
  EXPECT_FALSE(drift->effect().seen);
  EXPECT_TRUE(drift->heal().seen);
  auto strobe = make_clock_strobe("holder")->inject(*stage, 0, rng);
  EXPECT_FALSE(strobe->effect().seen);
  EXPECT_TRUE(strobe->heal().seen);
}

// A client is held still while the fault is put in place; what it reads later counts.
TEST_F(ClockFaultsTest, AHolderThatLooksLaterIsSeenBeforeHealing) {
  for (const auto& make : {make_clock, make_clock_back, make_clock_drift, make_clock_rate, make_clock_strobe}) {
    stage->use_client({"sh", "-c", "read line; exec /holdfast/holdfast-clock-probe watch 600000"});
    auto fault = make("holder")->inject(*stage, 0, rng);
    EXPECT_FALSE(fault->effect().seen);
    stage->client(0).process->close_input();
    EXPECT_TRUE(effect_of(*fault).seen) << fault->effect().evidence;
    const Effect healed = fault->heal();
    EXPECT_TRUE(healed.seen) << healed.evidence;
  }
}

// A server that another fault killed meanwhile neither spoils the healing nor finds a wrong clock when it comes back.
TEST_F(ClockFaultsTest, HealsThoughTheServerIsGone) {
  auto fault = make_clock("server")->inject(*stage, {}, rng);
  const std::size_t node = hit(*fault);
  stage->server().kill(*stage->cluster().servers()[node]);
  EXPECT_FALSE(fault->effect().seen);
  EXPECT_TRUE(fault->heal().seen);
  stage->server().start(*stage->cluster().servers()[node]);
  EXPECT_NEAR(redis_ahead(node), 0, 2);
}

// A node as hosts are: with a clock that is its machine's.
class HostNode final : public Node {
 public:
  explicit HostNode(Node& node) : node_(node) {}
  [[nodiscard]] const std::string& name() const override { return node_.name(); }
  [[nodiscard]] const std::string& address() const override { return node_.address(); }
  [[nodiscard]] std::string data_folder() const override { return node_.data_folder(); }
  [[nodiscard]] std::string program_folder() const override { return node_.program_folder(); }
  CommandResult run(const Command& command, std::chrono::milliseconds limit) override {
    return node_.run(command, limit);
  }
  std::unique_ptr<NodeProcess> spawn(const Command& command, const std::string& log) override {
    return node_.spawn(command, log);
  }
  std::unique_ptr<NodeProcess> start_daemon(const Command& command, const std::string& log) override {
    return node_.start_daemon(command, log);
  }
  void upload(const std::filesystem::path& ours, const std::string& theirs) override { node_.upload(ours, theirs); }
  void download(const std::string& theirs, const std::filesystem::path& ours) override { node_.download(theirs, ours); }

 private:
  Node& node_;
};

class HostCluster final : public Cluster {
 public:
  explicit HostCluster(Cluster& cluster) : cluster_(cluster), node_(*cluster.servers()[0]), nodes_{&node_} {}
  [[nodiscard]] std::span<Node* const> servers() const override { return nodes_; }
  [[nodiscard]] std::span<Node* const> clients() const override { return nodes_; }
  [[nodiscard]] Node& resource() const override { return cluster_.resource(); }
  [[nodiscard]] Network& network() override { return cluster_.network(); }
  [[nodiscard]] std::string describe() const override { return "one host"; }

 private:
  Cluster& cluster_;
  HostNode node_;
  std::vector<Node*> nodes_;
};

TEST_F(ClockFaultsTest, AHostsClockThatCannotBeSetIsNamed) {
  HostCluster hosts(stage->cluster());
  const auto why_not = [&](const std::unique_ptr<Fault>& fault) -> std::string {
    try {
      fault->rehearse(hosts);
    } catch (const Error& error) {
      return error.what();
    }
    return "it works";
  };
  EXPECT_THAT(why_not(make_clock("server")),
              testing::AllOf(testing::HasSubstr("n1"), testing::HasSubstr("CAP_SYS_TIME")));
  EXPECT_THAT(why_not(make_clock_drift("server")), testing::HasSubstr("use clock or clock-back"));
  EXPECT_THAT(why_not(make_clock_strobe("holder")), testing::HasSubstr("local nodes"));
  EXPECT_NO_THROW(make_clock("holder")->rehearse(stage->cluster()));
}

}  // namespace
}  // namespace holdfast
