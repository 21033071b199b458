// The clocks of real nodes, seen by real processes through the shim, beside the true ones.
#include "clusters/local/clock/node_clock.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <cmath>
#include <sstream>

#include "clusters/local/cluster.h"
#include "clusters/local/world.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr const char* kProbe = "/holdfast/holdfast-clock-probe";

struct Probe {
  nanoseconds wall;
  nanoseconds monotonic;
  nanoseconds at;
};

Probe look(Node& node) {
  std::istringstream in(node.must_run({{kProbe, "now"}, {}}, seconds(20)).output);
  std::int64_t wall = 0;
  std::int64_t monotonic = 0;
  std::int64_t at = 0;
  in >> wall >> monotonic >> at;
  EXPECT_TRUE(in);
  return {nanoseconds(wall), nanoseconds(monotonic), nanoseconds(at)};
}

// Asking twice takes a moment, and a busy machine may take that moment for something else.
MATCHER_P(IsAbout, expected, "") {
  return arg > nanoseconds(expected) - seconds(1) && arg < nanoseconds(expected) + seconds(1);
}

nanoseconds wall_beside_monotonic() {
  return std::chrono::system_clock::now().time_since_epoch() - std::chrono::steady_clock::now().time_since_epoch();
}

std::string read_line(NodeProcess& process) {
  std::string line;
  while (!line.ends_with('\n')) {
    pollfd watched{process.output(), POLLIN, 0};
    char letter = 0;
    if (::poll(&watched, 1, 20000) != 1 || ::read(process.output(), &letter, 1) != 1) return line + "<end>";
    line += letter;
  }
  return line;
}

class NodeClockTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!private_world_obstacle().empty()) return;
    cluster = std::make_unique<LocalCluster>(LocalClusterOptions{2, 1, HOLDFAST_PROGRAM_FOLDER});
  }
  static void TearDownTestSuite() { cluster.reset(); }
  void SetUp() override {
    if (cluster == nullptr) GTEST_SKIP() << "local nodes are not possible here: " << private_world_obstacle();
    ASSERT_NE(node().clock(), nullptr);
  }
  void TearDown() override {
    if (cluster != nullptr) node().clock()->heal();
  }
  static Node& node() { return *cluster->servers()[0]; }
  static double wait(const std::string& kind, int length) {
    const CommandResult result = node().must_run({{kProbe, "wait", kind, std::to_string(length)}, {}}, seconds(100));
    return std::stod(result.output.substr(result.output.find('\n')));
  }
  static inline std::unique_ptr<LocalCluster> cluster;
};

TEST_F(NodeClockTest, AJumpMovesTheWallClockOfOneNodeAlone) {
  const nanoseconds machine = wall_beside_monotonic();
  EXPECT_THAT(look(node()).wall, IsAbout(seconds(0)));
  for (const seconds by : {seconds(60), seconds(-120)}) {
    node().clock()->heal();
    node().clock()->jump(by);
    const Probe probe = look(node());
    EXPECT_THAT(probe.wall, IsAbout(by));
    EXPECT_THAT(probe.monotonic, IsAbout(seconds(0)));
    EXPECT_THAT(look(*cluster->servers()[1]).wall, IsAbout(seconds(0)));
    EXPECT_THAT(look(*cluster->clients()[0]).wall, IsAbout(seconds(0)));
    EXPECT_THAT(wall_beside_monotonic() - machine, IsAbout(seconds(0)));
  }
  node().clock()->heal();
  EXPECT_THAT(look(node()).wall, IsAbout(seconds(0)));
}

TEST_F(NodeClockTest, OrdinaryProgramsSeeIt) {
  node().clock()->jump(std::chrono::hours(24 * 366));
  const auto year = [](Node& which) { return std::stoi(which.must_run({{"date", "+%Y"}, {}}, seconds(5)).output); };
  EXPECT_GT(year(node()), year(*cluster->servers()[1]));
}

// Without the conversion a deadline of a clock that is behind has passed long ago, one of a clock that is ahead is a
// minute away.
TEST_F(NodeClockTest, WaitsForATimeTakeAsLongAsTheyShould) {
  for (const seconds by : {seconds(0), seconds(60), seconds(-60)}) {
    node().clock()->heal();
    node().clock()->jump(by);
    for (const char* kind :
         {"condition", "condition-monotonic", "semaphore", "mutex", "read-write", "sleep", "timer"}) {
      const double took = wait(kind, 120);
      EXPECT_GE(took, 119.9) << kind << " at " << by.count() << " s";
      EXPECT_LT(took, 20'000) << kind << " at " << by.count() << " s";
    }
  }
}

TEST_F(NodeClockTest, AFastMonotonicClockShortensItsWaitsAndKeepsWhatItGained) {
  node().clock()->drift(99, 99);
  for (const char* kind : {"condition-monotonic", "semaphore-monotonic", "mutex-monotonic", "read-write-monotonic",
                           "sleep-monotonic", "timer-monotonic", "condition", "sleep"}) {
    const double took = wait(kind, 20'000);
    EXPECT_GE(took, 199.9) << kind;
    EXPECT_LT(took, 10'000) << kind;
  }
  node().clock()->heal();
  const nanoseconds gained = look(node()).monotonic;
  EXPECT_GT(gained, seconds(8 * 19));
  EXPECT_THAT(look(node()).wall, IsAbout(seconds(0)));
  EXPECT_THAT(look(node()).monotonic - gained, IsAbout(seconds(0)));
  EXPECT_GE(wait("condition-monotonic", 120), 119.9);  // the gained time is not waited for
}

TEST_F(NodeClockTest, AJumpIsNoticedByThoseWhoWait) {
  for (const char* kind : {"condition", "semaphore", "mutex", "read-write", "sleep"}) {
    const auto waiting = node().spawn({{kProbe, "wait", kind, "600000"}, {}}, "/data/probe.log");
    ASSERT_EQ(read_line(*waiting), "waiting\n");
    node().clock()->jump(seconds(1000));
    EXPECT_LT(std::stod(read_line(*waiting)), 20'000) << kind;
    EXPECT_TRUE(waiting->wait(seconds(20)).has_value());
  }
  const auto waiting = node().spawn({{kProbe, "wait", "condition", "2000"}, {}}, "/data/probe.log");
  ASSERT_EQ(read_line(*waiting), "waiting\n");
  node().clock()->jump(seconds(-2));
  EXPECT_GE(std::stod(read_line(*waiting)), 3999.9) << "a clock set back makes the wait longer";
}

TEST_F(NodeClockTest, DriftIsWhatWasAskedFor) {
  for (const double rate : {0.1, -0.5}) {
    node().clock()->heal();
    const Probe before = look(node());
    node().clock()->drift(rate, 0);
    const Probe first = look(node());
    const double took = wait("sleep-monotonic", 300);
    const Probe second = look(node());
    EXPECT_GE(took, 299.9);
    const auto gained = static_cast<double>((second.wall - first.wall).count());
    EXPECT_NEAR(gained / static_cast<double>((second.at - first.at).count()), rate, std::abs(rate) / 100);
    EXPECT_EQ(std::llround(static_cast<double>((second.monotonic - before.monotonic).count()) / 1e8), 0);
  }
}

// Reads both clocks as fast as it can while they are turned and set under its nose.
TEST_F(NodeClockTest, MonotonicNeverGoesBack) {
  const auto watching = node().spawn({{kProbe, "watch", "1500"}, {}}, "/data/probe.log");
  pollfd ended{watching->output(), POLLIN, 0};
  for (int i = 0; ::poll(&ended, 1, 0) == 0; ++i) {
    node().clock()->drift(0.01 * (i % 100), i % 2 == 0 ? 3 : -0.75);
    if (i % 7 == 0) node().clock()->heal();
    node().clock()->jump(seconds(i % 2 == 0 ? 10 : -10));
  }
  std::istringstream in(read_line(*watching));
  long reads = 0;
  long wall_back = 0;
  long monotonic_back = -1;
  in >> reads >> wall_back >> monotonic_back;
  EXPECT_GT(reads, 1000);
  EXPECT_GT(wall_back, 0) << "it did not watch while the clock was set back";
  EXPECT_EQ(monotonic_back, 0);
}

TEST_F(NodeClockTest, AProcessThatHasReadItIsKnown) {
  const auto reader = node().spawn({{"sh", "-c", "cat; /holdfast/holdfast-clock-probe watch 600000"}, {}}, "/dev/null");
  EXPECT_FALSE(node().clock()->told(*reader).has_value() && node().clock()->told(*reader)->wall.current);
  node().clock()->jump(seconds(7));
  reader->close_input();
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  std::optional<ClockReadings> told;
  while (!told || !told->wall.current || !told->monotonic.current) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    told = node().clock()->told(*reader);
  }
  EXPECT_EQ(told->wall.ahead, seconds(7));
  const std::uint32_t changes = told->wall.changes;
  node().clock()->jump(seconds(1));
  while (told->wall.ahead != seconds(8)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    told = node().clock()->told(*reader);
  }
  EXPECT_EQ(told->wall.changes, changes + 1);
}

}  // namespace
}  // namespace holdfast
