// Real namespaces, real processes. What is asserted here is what every run relies on: isolation, signals that reach
// the whole group, cuts that bite at once and heal, and nothing left when a node or its controller is gone.
#include "clusters/local/cluster.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "clusters/local/world.h"
#include "harness/error.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string program_folder() {
  return HOLDFAST_PROGRAM_FOLDER;
}

class LocalClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    cluster = std::make_unique<LocalCluster>(LocalClusterOptions{1, 2, program_folder()});
  }
  static void TearDownTestSuite() { cluster.reset(); }
  void SetUp() override {
    if (cluster == nullptr) GTEST_SKIP() << "local nodes are not possible here";
  }

  static Node& server() { return *cluster->servers()[0]; }
  static Node& client(std::size_t i) { return *cluster->clients()[i]; }
  static std::string output(Node& node, const std::string& script) {
    return node.must_run({{"sh", "-c", script}, {}}, seconds(5)).output;
  }

  static inline std::unique_ptr<LocalCluster> cluster;
};

TEST_F(LocalClusterTest, EachNodeHasItsOwnNameProcessesAndFiles) {
  EXPECT_EQ(output(server(), "hostname"), "n1\n");
  EXPECT_EQ(output(client(1), "hostname"), "c2\n");
  EXPECT_LE(std::stoi(output(client(0), "ls -d /proc/[0-9]* | wc -l")), 5);  // init, sh, ls, wc; none of the machine's
  output(server(), "echo mine > /data/file");
  EXPECT_FALSE(client(0).run({{"test", "-e", "/data/file"}, {}}, seconds(5)).ok());
  EXPECT_FALSE(server().run({{"sh", "-c", "touch /usr/bin/intruder"}, {}}, seconds(5)).ok());
  // Nothing of the machine but its programs: not even its home folders.
  EXPECT_EQ(output(server(), "ls -A /home /root"), "/home:\n\n/root:\n");
}

TEST_F(LocalClusterTest, NodesCannotTouchTheMachinesClock) {
  const CommandResult result = server().run({{"date", "-s", "0 seconds"}, {}}, seconds(5));
  EXPECT_FALSE(result.ok());
  EXPECT_NE(result.errors.find("not permitted"), std::string::npos) << result.errors;
}

TEST_F(LocalClusterTest, NodesFindEachOtherByName) {
  const auto listener = server().start_daemon(
      {{"redis-server", "--bind", server().address(), "--port", "7001", "--protected-mode", "no", "--save", ""}, {}},
      "/data/listener.log");
  const CommandResult answer = client(0).run(
      {{"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do redis-cli -h n1 -p 7001 ping | grep PONG && exit 0; done; exit 1"},
       {}},
      seconds(10));
  EXPECT_TRUE(answer.ok()) << answer.output << answer.errors;
}

TEST_F(LocalClusterTest, RunReportsStatusStreamsSignalAndTimeOut) {
  const CommandResult three = server().run({{"sh", "-c", "echo out; echo err >&2; exit 3"}, {}}, seconds(5));
  EXPECT_EQ(three.exit_status, 3);
  EXPECT_EQ(three.output, "out\n");
  EXPECT_EQ(three.errors, "err\n");
  EXPECT_EQ(server().run({{"sh", "-c", "kill -9 $$"}, {}}, seconds(5)).exit_status, 137);
  EXPECT_TRUE(server().run({{"sleep", "100"}, {}}, milliseconds(50)).timed_out);
  const CommandResult missing = server().run({{"no-such-program"}, {}}, seconds(5));
  EXPECT_EQ(missing.exit_status, 127);
  EXPECT_NE(missing.errors.find("no-such-program"), std::string::npos);
}

bool becomes(NodeProcess& process, ProcessState wanted) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(5);
  while (process.state() != wanted) {
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

TEST_F(LocalClusterTest, SignalsReachTheWholeGroup) {
  const auto process = server().start_daemon({{"sh", "-c", "sleep 1000 & sleep 1000"}, {}}, "/data/group.log");
  EXPECT_TRUE(becomes(*process, ProcessState::running));
  process->signal(SIGSTOP);
  EXPECT_TRUE(becomes(*process, ProcessState::stopped));
  process->signal(SIGCONT);
  EXPECT_TRUE(becomes(*process, ProcessState::running));
  process->signal(SIGKILL);
  const auto status = process->wait(seconds(5));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->signal, SIGKILL);
  EXPECT_TRUE(becomes(*process, ProcessState::gone));
}

TEST_F(LocalClusterTest, SpawnedProcessTalksThroughPipes) {
  const auto cat = client(0).spawn({{"cat"}, {}}, "/data/cat.log");
  ASSERT_EQ(::write(cat->input(), "hello\n", 6), 6);
  pollfd watched{cat->output(), POLLIN, 0};
  ASSERT_EQ(::poll(&watched, 1, 5000), 1);
  std::string text(16, '\0');
  text.resize(static_cast<std::size_t>(::read(cat->output(), text.data(), text.size())));
  EXPECT_EQ(text, "hello\n");
  cat->close_input();
  const auto status = cat->wait(seconds(5));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 0);
}

TEST_F(LocalClusterTest, CutsAreDirectedCountedAndHeal) {
  const auto listener = server().start_daemon(
      {{"redis-server", "--bind", server().address(), "--port", "7002", "--protected-mode", "no", "--save", ""}, {}},
      "/data/cut.log");
  const auto reaches = [](Node& from) {
    return from.run({{"redis-cli", "-h", server().address(), "-p", "7002", "ping"}, {}}, milliseconds(700)).ok();
  };
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (!reaches(client(0)) && std::chrono::steady_clock::now() < deadline) {
  }
  ASSERT_TRUE(reaches(client(0)));
  cluster->network().cut(std::vector<CutLink>{{"n1", "c1"}});  // answers are lost, one way
  EXPECT_FALSE(reaches(client(0)));
  EXPECT_TRUE(reaches(client(1)));
  EXPECT_GT(cluster->network().dropped(), 0U);
  cluster->network().cut({});
  EXPECT_TRUE(reaches(client(0)));
}

TEST_F(LocalClusterTest, FilesGoInAndOut) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("holdfast-test-" + std::to_string(::getpid()));
  std::ofstream(file) << "payload";
  server().upload(file, "/data/payload");
  EXPECT_EQ(output(server(), "cat /data/payload"), "payload");
  output(server(), "echo answer > /data/answer");
  server().download("/data/answer", file);
  std::string line;
  std::ifstream(file) >> line;
  EXPECT_EQ(line, "answer");
  std::filesystem::remove(file);
}

TEST(LocalClusterLimits, TooManyNodesAreRefusedByName) {
  EXPECT_THROW(LocalCluster({.servers = 200, .clients = 200, .program_folder = program_folder()}), UsageError);
}

// The controller here is a child of ours, killed in cold blood while its node runs a process.
TEST(LocalClusterDeath, NothingSurvivesAKilledController) {
  if (!private_world_obstacle().empty()) GTEST_SKIP() << "local nodes are not possible here";
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe(told.data()), 0);
  const pid_t controller = ::fork();
  if (controller == 0) {
    if (::unshare(CLONE_NEWNET) != 0) ::_exit(1);  // or it would share the private world of the tests above
    LocalCluster cluster({.servers = 1, .clients = 1, .program_folder = program_folder()});
    const auto sleeper = cluster.servers()[0]->start_daemon({{"sleep", "1000"}, {}}, "/data/sleep.log");
    const pid_t init = dynamic_cast<LocalNode*>(cluster.servers()[0])->init();
    if (::write(told[1], &init, sizeof init) != sizeof init) ::_exit(1);
    ::pause();
    ::_exit(1);
  }
  pid_t init = 0;
  ASSERT_EQ(::read(told[0], &init, sizeof init), static_cast<ssize_t>(sizeof init));
  ::close(told[0]);
  ::close(told[1]);
  ASSERT_EQ(::kill(init, 0), 0);
  ::kill(controller, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(controller, &status, 0), controller);
  const auto deadline = std::chrono::steady_clock::now() + seconds(5);
  const std::string proc = "/proc/" + std::to_string(init) + "/root/data";
  while (std::filesystem::exists(proc) && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_FALSE(std::filesystem::exists(proc));
}

}  // namespace
}  // namespace holdfast
