#include "clusters/ssh/node.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "clusters/ssh/quote.h"
#include "clusters/ssh/test_sshd.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;

class SshNodes : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = TestSshd::missing(); !reason.empty()) GTEST_SKIP() << reason;
    sshd_ = std::make_unique<TestSshd>(folder_);
    sshd_->wait_until_it_listens();
    options_.nodes = {"node"};
    options_.ssh_config = sshd_->options().ssh_config;
    options_.run_id = "test";
  }
  static std::string shell(SshNode& node, const std::string& script) {
    return node.run({.argv = {"/bin/sh", "-c", script}, .environment = {}}, seconds(20)).output;
  }
  static Command sleeper() {  // a group of two
    return {.argv = {"/bin/sh", "-c", "sleep 4321 & wait"}, .environment = {}};
  }

  TestFolder folder_;
  std::unique_ptr<TestSshd> sshd_;
  SshOptions options_;
};

void send_line(NodeProcess& process, const std::string& text) {
  ASSERT_EQ(write(process.input(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// Reads until `size` bytes are there, the end, or the deadline.
std::string receive(int descriptor, std::size_t size, milliseconds limit = seconds(20)) {
  std::string text;
  const auto deadline = steady_clock::now() + limit;
  while (text.size() < size && steady_clock::now() < deadline) {
    pollfd poller{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&poller, 1, 50) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

ExitStatus end_of(NodeProcess& process) {
  return process.wait(seconds(10)).value_or(ExitStatus{.code = -1, .signal = -1});
}

TEST_F(SshNodes, HasAFolderOfItsOwnThatGoesWithIt) {
  std::string top;
  {
    const SshNode node("node", options_);
    EXPECT_EQ(node.name(), "node");
    EXPECT_EQ(node.address(), "127.0.0.1");
    top = std::filesystem::path(node.data_folder()).parent_path();
    EXPECT_THAT(top, testing::StartsWith("/tmp/holdfast-test."));
    EXPECT_TRUE(std::filesystem::is_empty(node.data_folder()));
    EXPECT_TRUE(std::filesystem::is_empty(node.program_folder()));
    EXPECT_TRUE(std::filesystem::exists(top + "/controller"));
    const SshNode twin("node", options_);
    EXPECT_NE(twin.data_folder(), node.data_folder());
  }
  EXPECT_FALSE(std::filesystem::exists(top));
}

TEST_F(SshNodes, BringsOurProgramsAndNothingElse) {
  const std::string programs = folder_.file("bin");
  std::filesystem::create_directory(programs);
  write_file(programs + "/holdfast-hello", "#!/bin/sh\necho hello \"$1\"\n");
  chmod((programs + "/holdfast-hello").c_str(), 0755);
  write_file(programs + "/something-else", "x");
  options_.program_folder = programs;
  SshNode node("node", options_);
  EXPECT_EQ(shell(node, "ls " + quote(node.program_folder())), "holdfast-hello\n");
  const Command hello{.argv = {node.program_folder() + "/holdfast-hello", "$(id) 'x'"}, .environment = {}};
  EXPECT_EQ(node.run(hello, seconds(10)).output, "hello $(id) 'x'\n");
}

TEST_F(SshNodes, RunsCommandsFromManyThreads) {
  SshNode node("node", options_);
  const CommandResult result =
      node.run({.argv = {"/bin/sh", "-c", "echo \"$A\"; echo no >&2; exit 3"}, .environment = {"A=b c"}}, seconds(10));
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.output, "b c\n");
  EXPECT_EQ(result.errors, "no\n");
  EXPECT_EQ(node.run({.argv = {"no-such-program"}, .environment = {}}, seconds(10)).exit_status, 127);
  std::array<std::string, 10> outputs;
  {
    std::vector<std::jthread> threads;
    threads.reserve(outputs.size());
    for (std::size_t index = 0; index < outputs.size(); ++index)
      threads.emplace_back([&, index] { outputs[index] = shell(node, "printf " + std::to_string(index)); });
  }
  for (std::size_t index = 0; index < outputs.size(); ++index) EXPECT_EQ(outputs[index], std::to_string(index));
}

TEST_F(SshNodes, DaemonIsPausedResumedAndKilledAsAGroup) {
  SshNode node("node", options_);
  const auto daemon = node.start_daemon(sleeper(), node.data_folder() + "/log");
  EXPECT_THAT(daemon->describe(), AllOf(HasSubstr("sh (pid "), HasSubstr(" on node)")));
  EXPECT_EQ(daemon->input(), -1);
  EXPECT_EQ(daemon->state(), ProcessState::running);
  daemon->signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return daemon->state() == ProcessState::stopped; }));
  EXPECT_FALSE(daemon->wait(milliseconds(0)).has_value());
  const std::string top = std::filesystem::path(node.data_folder()).parent_path();
  const std::string armed = fmt::format("pgrep -f '[h]oldfast-dead-man {}/controller .*-s CONT' | wc -l", top);
  EXPECT_EQ(shell(node, armed), "1\n");
  daemon->signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return daemon->state() == ProcessState::running; }));
  daemon->signal(SIGSTOP);
  daemon->signal(SIGKILL);
  const ExitStatus status = end_of(*daemon);
  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_TRUE(eventually([&] { return daemon->state() == ProcessState::gone; }));
  daemon->signal(SIGTERM);  // quiet
  EXPECT_EQ(shell(node, armed), "0\n");
}

TEST_F(SshNodes, AGroupWithOneRunningMemberIsNotStopped) {
  SshNode node("node", options_);
  const auto daemon = node.start_daemon({.argv = {"/bin/sh", "-c", "sleep 4321 & echo $!; wait"}, .environment = {}},
                                        node.data_folder() + "/log");
  std::string child;
  ASSERT_TRUE(eventually([&] { return !(child = read_file(node.data_folder() + "/log")).empty(); }));
  daemon->signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return daemon->state() == ProcessState::stopped; }));
  kill(std::stoi(child), SIGCONT);
  EXPECT_TRUE(eventually([&] { return daemon->state() == ProcessState::running; }));
}

TEST_F(SshNodes, DaemonOutlivesTheConnectionAndIsReachedAgain) {
  SshNode node("node", options_);
  const auto daemon = node.start_daemon(sleeper(), node.data_folder() + "/log");
  const int server = std::stoi(node.control().must_run("ps -o ppid= -p $$", "ask"));  // sshd's process of this session
  ASSERT_EQ(kill(server, SIGKILL), 0);
  EXPECT_EQ(daemon->state(), ProcessState::running);
  daemon->signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return daemon->state() == ProcessState::stopped; }));
}

TEST_F(SshNodes, DaemonTellsHowItEndedAndLogs) {
  SshNode node("node", options_);
  const std::string log = node.data_folder() + "/a log";
  const auto daemon = node.start_daemon(
      {.argv = {"/bin/sh", "-c", "cat; echo \"$A\"; echo err >&2; exit 3"}, .environment = {"A=it's"}}, log);
  const ExitStatus status = end_of(*daemon);
  EXPECT_EQ(status.code, 3);
  EXPECT_EQ(status.signal, 0);
  EXPECT_EQ(daemon->state(), ProcessState::gone);
  EXPECT_EQ(read_file(log), "it's\nerr\n");
}

TEST_F(SshNodes, DaemonThatCannotStartIsAnError) {
  SshNode node("node", options_);
  const auto error_of = [&](const Command& command, const std::string& log) -> std::string {
    try {
      (void)node.start_daemon(command, log);
    } catch (const Error& error) {
      return error.what();
    }
    return "(no error)";
  };
  EXPECT_THAT(error_of({.argv = {"no-such-server"}, .environment = {}}, node.data_folder() + "/log"),
              AllOf(HasSubstr("node: start no-such-server"), HasSubstr("install")));
  EXPECT_THAT(error_of(sleeper(), "/nowhere/log"), AllOf(HasSubstr("node: start sh"), HasSubstr("/nowhere/log")));
}

TEST_F(SshNodes, SpawnedProcessEchoesTenThousandLines) {
  SshNode node("node", options_);
  const auto process = node.spawn({.argv = {"cat"}, .environment = {}}, node.data_folder() + "/errors");
  EXPECT_NE(fcntl(process->input(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(process->output(), F_GETFL) & O_NONBLOCK, 0);
  std::string all;
  for (int line = 0; line < 10000; ++line) all += "line " + std::to_string(line) + " of ten thousand\n";
  std::jthread writer([&] {
    std::string_view left = all;
    while (!left.empty()) {
      pollfd poller{.fd = process->input(), .events = POLLOUT, .revents = 0};
      (void)poll(&poller, 1, 1000);
      const ssize_t written = write(process->input(), left.data(), left.size());
      if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
    }
  });
  EXPECT_TRUE(receive(process->output(), all.size()) == all);
  writer.join();
  process->close_input();
  const ExitStatus status = end_of(*process);
  EXPECT_EQ(status.code, 0);
  EXPECT_EQ(receive(process->output(), 1), "");  // the end
}

TEST_F(SshNodes, AnswersOfASpawnedProcessComeOneByOne) {
  SshNode node("node", options_);
  const auto process = node.spawn({.argv = {"cat"}, .environment = {}}, node.data_folder() + "/errors");
  const auto began = steady_clock::now();
  for (int round = 0; round < 200; ++round) {
    const std::string line = "{\"id\":" + std::to_string(round) + "}\n";
    send_line(*process, line);
    ASSERT_EQ(receive(process->output(), line.size()), line);
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - began);
  RecordProperty("round_trip_us", static_cast<int>(took.count() / 200));
  EXPECT_LT(took, seconds(10));
}

TEST_F(SshNodes, SpawnedProcessTellsHowItEndedAndLogsItsErrors) {
  SshNode node("node", options_);
  const std::string log = node.data_folder() + "/errors";
  write_file(log, "before\n");
  const auto process =
      node.spawn({.argv = {"/bin/sh", "-c", "echo out; echo err >&2; exit 5"}, .environment = {}}, log);
  const ExitStatus status = end_of(*process);
  EXPECT_EQ(status.code, 5);
  EXPECT_EQ(receive(process->output(), 100), "out\n");
  EXPECT_EQ(read_file(log), "before\nerr\n");
  const auto killed = node.spawn({.argv = {"cat"}, .environment = {}}, log);
  killed->signal(SIGKILL);
  const ExitStatus how = end_of(*killed);
  EXPECT_EQ(how.signal, SIGKILL);
}

TEST_F(SshNodes, PausedSpawnedProcessIsSilentUntilItIsResumed) {
  SshNode node("node", options_);
  const auto process = node.spawn({.argv = {"cat"}, .environment = {}}, node.data_folder() + "/errors");
  process->signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return process->state() == ProcessState::stopped; }));
  send_line(*process, "x\n");
  EXPECT_EQ(receive(process->output(), 2, milliseconds(200)), "");
  process->signal(SIGCONT);
  EXPECT_EQ(receive(process->output(), 2), "x\n");
}

TEST_F(SshNodes, AFloodIsHeldBackAndEndsWithTheProcess) {
  SshNode node("node", options_);
  const auto process = node.spawn({.argv = {"yes", "flood"}, .environment = {}}, node.data_folder() + "/errors");
  EXPECT_EQ(receive(process->output(), 1 << 20).substr(0, 12), "flood\nflood\n");
  process->signal(SIGKILL);
  // All that was under way comes out, then the end: SSH's window bounds it.
  std::size_t rest = 0;
  for (std::string more = receive(process->output(), 1); !more.empty(); more = receive(process->output(), 1))
    rest += more.size();
  EXPECT_LT(rest, 8U << 20U);
  EXPECT_TRUE(process->wait(seconds(10)).has_value());
}

TEST_F(SshNodes, DestructionEndsWhatIgnoresEverything) {
  SshNode node("node", options_);
  const Command stubborn{.argv = {"/bin/sh", "-c", "trap '' TERM HUP INT; echo $$; while :; do sleep 1; done"},
                         .environment = {}};
  int group = 0;
  {
    const auto process = node.spawn(stubborn, node.data_folder() + "/errors");
    const std::string text = receive(process->output(), 2);
    group = std::stoi(text);
    EXPECT_EQ(kill(-group, 0), 0);
  }
  const std::string states =
      "cat /proc/[0-9]*/stat 2>/dev/null | grep -c '^[0-9]* (.*) [^Z] [0-9]* " + std::to_string(group) + " '";
  EXPECT_TRUE(eventually([&] { return shell(node, states) == "0\n"; }));
}

TEST_F(SshNodes, BrokenConnectionEndsASpawnedProcessForUs) {
  SshNode node("node", options_);
  const auto process = node.spawn({.argv = {"/bin/sh", "-c", "ps -o ppid= -p $$; cat"}, .environment = {}},
                                  node.data_folder() + "/errors");
  const std::string server = receive(process->output(), 2);
  ASSERT_EQ(kill(std::stoi(server), SIGKILL), 0);
  const ExitStatus status = end_of(*process);
  EXPECT_EQ(status.code, 255);
  EXPECT_EQ(receive(process->output(), 1), "");
  EXPECT_TRUE(eventually([&] { return process->state() == ProcessState::gone; }));  // its input ended
}

TEST_F(SshNodes, DeadManActsOnlyWhenTheHeartbeatStops) {
  options_.dead_man = milliseconds(2000);  // a loaded machine may keep a heartbeat waiting for a while
  SshNode node("node", options_);
  Control& control = node.control();
  const std::string acted = folder_.file("acted");
  const std::string cancelled = folder_.file("cancelled");
  control.must_run(control.arm("echo >" + quote(acted)), "arm");
  const std::string pid = control.must_run(control.arm("echo >" + quote(cancelled)), "arm");
  EXPECT_FALSE(eventually([&] { return std::filesystem::exists(acted); }, milliseconds(3000)));
  control.must_run(Control::disarm(std::stoi(pid)), "disarm");
  control.stop_beating();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(acted); }));
  EXPECT_FALSE(std::filesystem::exists(cancelled));
}

TEST_F(SshNodes, AControllerThatIsKilledLeavesNothing) {
  options_.dead_man = milliseconds(1000);
  const std::string report = folder_.file("report");
  const pid_t controller = fork();
  ASSERT_GE(controller, 0);
  if (controller == 0) {
    SshNode node("node", options_);
    const auto daemon = node.start_daemon(sleeper(), node.data_folder() + "/log");
    const auto client = node.spawn({.argv = {"cat"}, .environment = {}}, node.data_folder() + "/errors");
    daemon->signal(SIGSTOP);
    client->signal(SIGSTOP);
    write_file(report + ".new", daemon->describe() + "\n" + node.data_folder() + "\n" + client->describe() + "\n");
    std::filesystem::rename(report + ".new", report);
    while (true) pause();
  }
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(report); }, seconds(20)));
  std::istringstream text(read_file(report));
  std::string daemon;
  std::string data;
  std::string client;
  std::getline(text, daemon);
  std::getline(text, data);
  std::getline(text, client);
  kill(controller, SIGKILL);
  waitpid(controller, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(data));
  EXPECT_TRUE(
      eventually([&] { return !std::filesystem::exists(std::filesystem::path(data).parent_path()); }, seconds(15)));
  SshNode judge("node", options_);
  for (const std::string& name : {daemon, client}) {
    const std::string group = name.substr(name.find("(pid ") + 5, name.find(" on ") - name.find("(pid ") - 5);
    const std::string alive = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c '^[0-9]* (.*) [^Z] [0-9]* " + group + " '";
    EXPECT_TRUE(eventually([&] { return shell(judge, alive) == "0\n"; })) << name;
  }
}

class SshClean : public SshNodes {
 protected:
  // The host has a /tmp of its own, so that cleaning it is nobody else's loss.
  void SetUp() override {
    if (const std::string reason = TestSshd::missing(); !reason.empty()) GTEST_SKIP() << reason;
    if (run_program({"unshare", "-m", "true"}) != 0) GTEST_SKIP() << "no mount namespace can be made here";
    sshd_ = std::make_unique<TestSshd>(
        folder_, "127.0.0.1", 0,
        std::vector<std::string>{"unshare", "-m", "/bin/sh", "-c", R"(mount -t tmpfs none /tmp && exec "$@")", "sh"});
    sshd_->wait_until_it_listens();
    options_.nodes = {"node"};
    options_.ssh_config = sshd_->options().ssh_config;
    options_.run_id = "own";
  }
};

TEST_F(SshClean, RemovesDeadRunsAfterADayAndLivingOnesOnRequest) {
  SshNode node("node", options_);
  const std::string own = std::filesystem::path(node.data_folder()).parent_path();
  const int sleeping = std::stoi(
      shell(node,
            "for x in old young; do mkdir -p /tmp/holdfast-$x.1; echo 5 >/tmp/holdfast-$x.1/controller; done; "
            "touch -d '2 days ago' /tmp/holdfast-old.1/controller; mkdir /tmp/holdfast-foreign /tmp/other; "
            "setsid sleep 5432 >/dev/null 2>&1 & echo $! - >/tmp/holdfast-old.1/groups; echo $!"));
  EXPECT_THAT(clean_ssh_nodes(options_, SshLeftovers::stale),
              testing::ElementsAre("node: removed /tmp/holdfast-old.1"));
  const std::string alive = fmt::format("grep -c '^[0-9]* (.*) [^Z] ' /proc/{}/stat 2>/dev/null", sleeping);
  EXPECT_TRUE(eventually([&] { return shell(node, alive) != "1\n"; }));
  EXPECT_EQ(shell(node, "ls -d /tmp/*"), "/tmp/holdfast-foreign\n" + own + "\n/tmp/holdfast-young.1\n/tmp/other\n");
  EXPECT_THAT(clean_ssh_nodes(options_, SshLeftovers::all),
              testing::UnorderedElementsAre("node: removed /tmp/holdfast-young.1", "node: removed " + own));
  EXPECT_EQ(shell(node, "ls -d /tmp/*"), "/tmp/holdfast-foreign\n/tmp/other\n");
}

TEST_F(SshClean, DoesNotKillAProcessThatGotAnOldNumber) {
  SshNode node("node", options_);
  const auto daemon = node.start_daemon(sleeper(), node.data_folder() + "/log");
  const std::string name = daemon->describe();
  const std::string group = name.substr(name.find("(pid ") + 5, name.find(" on ") - name.find("(pid ") - 5);
  shell(node, "mkdir /tmp/holdfast-old.1; cd /tmp/holdfast-old.1; echo " + group +
                  " 1 >groups; touch -d '2 days ago' controller");
  EXPECT_THAT(clean_ssh_nodes(options_, SshLeftovers::stale), testing::SizeIs(1));
  EXPECT_EQ(daemon->state(), ProcessState::running);
}

}  // namespace
}  // namespace holdfast
