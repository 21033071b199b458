// The loop against real client processes that behave, and against one of each kind that does not. The nodes are fakes
// (processes of this machine without namespaces): what is tested here is the controller.
#include "harness/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "harness/error.h"
#include "harness/history.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class HereProcess final : public NodeProcess {
 public:
  HereProcess(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}
  HereProcess(const HereProcess&) = delete;
  HereProcess& operator=(const HereProcess&) = delete;
  ~HereProcess() override {
    HereProcess::signal(SIGKILL);
    static_cast<void>(HereProcess::wait(seconds(5)));
    for (const int descriptor : {input_, output_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }
  void signal(int signal_number) override {
    const std::lock_guard lock(mutex_);
    if (!status_) ::kill(-pid_, signal_number);
  }
  ProcessState state() override { return wait(milliseconds(0)) ? ProcessState::gone : ProcessState::running; }
  std::optional<ExitStatus> wait(milliseconds limit) override {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        int status = 0;
        if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
          status_ = WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status)} : ExitStatus{WEXITSTATUS(status), 0};
        }
        if (status_) return status_;
      }
      if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
      std::this_thread::yield();
    }
  }
  [[nodiscard]] int input() const override { return input_; }
  [[nodiscard]] int output() const override { return output_; }
  void close_input() override {
    if (input_ >= 0) ::close(std::exchange(input_, -1));
  }
  [[nodiscard]] std::string describe() const override { return fmt::format("pid {}", pid_); }

 private:
  std::mutex mutex_;
  pid_t pid_;
  std::optional<ExitStatus> status_;
  int input_;
  int output_;
};

class HereNode final : public Node {
 public:
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& address() const override { return address_; }
  [[nodiscard]] std::string data_folder() const override { return "/tmp"; }
  [[nodiscard]] std::string program_folder() const override { return HOLDFAST_PROGRAM_FOLDER; }
  CommandResult run(const Command& /*command*/, milliseconds /*limit*/) override { return {}; }
  std::unique_ptr<NodeProcess> spawn(const Command& command, const std::string& /*error_log*/) override {
    if (::access(command.argv.front().c_str(), X_OK) != 0) throw Error("here: cannot start " + command.argv.front());
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw system_error("pipe");
    std::vector<char*> argv;
    for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setsid();
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::setpgid(child, child);
    ::close(in[0]);
    ::close(out[1]);
    ::fcntl(in[1], F_SETFL, O_NONBLOCK);
    ::fcntl(out[0], F_SETFL, O_NONBLOCK);
    return std::make_unique<HereProcess>(child, in[1], out[0]);
  }
  std::unique_ptr<NodeProcess> start_daemon(const Command& /*c*/, const std::string& /*l*/) override { return nullptr; }
  void upload(const std::filesystem::path& /*ours*/, const std::string& /*theirs*/) override {}
  void download(const std::string& /*theirs*/, const std::filesystem::path& /*ours*/) override {}

 private:
  std::string name_ = "here";
  std::string address_ = "127.0.0.1";
};

class NoNetwork final : public Network {
  void cut(std::span<const CutLink> /*links*/) override {}
  std::uint64_t dropped() override { return 0; }
};

class HereCluster final : public Cluster {
 public:
  [[nodiscard]] std::span<Node* const> servers() const override { return nodes_; }
  [[nodiscard]] std::span<Node* const> clients() const override { return nodes_; }
  [[nodiscard]] Node& resource() const override { return *nodes_[0]; }
  [[nodiscard]] Network& network() override { return network_; }
  [[nodiscard]] std::string describe() const override { return "here"; }

 private:
  HereNode node_;
  std::vector<Node*> nodes_ = {&node_};
  NoNetwork network_;
};

class NoServer final : public Server {
 public:
  [[nodiscard]] std::string_view name() const override { return "nothing"; }
  void install(Node& /*node*/) override {}
  void start(Node& /*node*/) override {}
  void stop(Node& /*node*/) override {}
  void kill(Node& /*node*/) override {}
  void wipe(Node& /*node*/) override {}
  NodeProcess& process(Node& /*node*/) override { throw Error("no server"); }
  bool ready(Node& /*node*/) override { return true; }
  std::string version(Node& /*node*/) override { return "0"; }
  [[nodiscard]] std::string endpoint(const Node& /*node*/) const override { return "127.0.0.1:1"; }
  [[nodiscard]] std::vector<std::string> logs(const Node& /*node*/) const override { return {}; }
  std::vector<Node*> primaries(std::span<Node* const> nodes) override { return {nodes.begin(), nodes.end()}; }
};

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    file_ = std::filesystem::temp_directory_path() / fmt::format("holdfast-runner-{}.jsonl", ::getpid());
    std::filesystem::remove(file_);
  }
  void TearDown() override { std::filesystem::remove(file_); }

  // Runs `client` on two lanes until so many operations were asked for, and reads the history back.
  HistoryFile run_clients(const std::vector<std::string>& client, std::size_t operations, Nemesis* nemesis = nullptr,
                          Time operation_limit = milliseconds(200)) {
    Workload workload;
    workload.generator = time_limit(seconds(20), limit(operations, repeat({"noop", "k", 1})));
    SystemEntry system{.name = "test", .client = client};
    Recorder recorder(file_);
    run({.system = system,
         .cluster = cluster_,
         .server = server_,
         .workload = workload,
         .nemesis = nemesis,
         .recorder = recorder,
         .concurrency = 2,
         .operation_limit = operation_limit});
    recorder.close();
    return read_history(file_);
  }
  HistoryFile run_broken(const std::string& mode, std::size_t operations = 6) {
    return run_clients({"{programs}/holdfast-broken-client", "--mode", mode, "--after", "2"}, operations);
  }

  HereCluster cluster_;
  NoServer server_;
  std::filesystem::path file_;
};

std::size_t count(const HistoryFile& file, EventType type, std::string_view f) {
  std::size_t found = 0;
  for (const Event& event : file.history.events()) found += event.type == type && event.f == f ? 1 : 0;
  return found;
}

std::string errors(const HistoryFile& file) {
  std::string all;
  for (const Event& event : file.history.events()) {
    if (!event.error.is_null()) all += event.error.dump();
  }
  return all;
}

TEST_F(RunnerTest, RecordsEveryOperationOfGoodClients) {
  const HistoryFile file = run_clients({"{programs}/holdfast-noop-client"}, 1000);
  EXPECT_FALSE(file.truncated);
  EXPECT_EQ(file.history.operations().size(), 1000U);
  EXPECT_EQ(count(file, EventType::ok, "noop"), 1000U);
}

// Each kind of broken client: its open operation becomes unknown, its process number is retired, the run goes on and
// ends, and all operations that were asked for are in the history.
class BrokenClientTest : public RunnerTest, public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(BrokenClientTest, CostsItsOperationAndItsNumberOnly) {
  const auto [mode, said] = GetParam();
  const HistoryFile file = run_broken(mode);
  EXPECT_EQ(file.history.operations().size(), 6U);
  EXPECT_GE(count(file, EventType::info, "noop"), 1U);
  EXPECT_THAT(errors(file), testing::HasSubstr(said));
  EXPECT_EQ(count(file, EventType::info, "exited"), count(file, EventType::info, "noop"));
  for (const Operation& operation : file.history.operations()) {
    if (!operation.unknown()) continue;
    for (const Event& event : file.history.events()) {
      const bool later = event.index > operation.complete->index && event.f != "exited";
      EXPECT_FALSE(later && event.process == operation.invoke->process) << "a retired process spoke again";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Runner, BrokenClientTest,
                         testing::Values(std::pair{"die", "client ended"}, std::pair{"hang", "no answer within 200 ms"},
                                         std::pair{"flood", "client floods"}, std::pair{"garbage", "garbage"},
                                         std::pair{"long-line", "1 MiB"}, std::pair{"wrong-id", "not open"},
                                         std::pair{"half-line", "client ended: exit 0"}),
                         [](const auto& test) {
                           std::string name = test.param.first;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(RunnerTest, ClientThatNeverOpensEndsTheRunWithItsReason) {
  for (const char* mode : {"bad-open", "exit-at-open"}) {
    std::filesystem::remove(file_);
    try {
      run_broken(mode);
      FAIL() << mode;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("client does not start"));
    }
    EXPECT_TRUE(std::filesystem::exists(file_));
  }
  std::filesystem::remove(file_);
  try {
    run_clients({"{programs}/no-such-client"}, 1);
    FAIL() << "a missing program was started";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no-such-client"));
  }
}

// A nemesis that holds a lane at its first answer until another thread lets it go.
class Holder final : public Nemesis {
 public:
  void start(Stage& stage, Recorder& /*recorder*/, std::function<void(std::size_t)> release) override {
    stage_ = &stage;
    release_ = std::move(release);
  }
  std::vector<std::string> steps_to_stop_at(std::string_view /*f*/) override { return {}; }
  bool observe(std::size_t lane, const Event& event) override {
    if (lane == 0 && held_ && event.type == EventType::ok) ++moved_while_held_;
    if (lane != 0 || event.type != EventType::ok || done_) return false;
    done_ = held_ = true;
    thread_ = std::jthread([this] {
      EXPECT_NE(stage_->client(0).process, nullptr);
      stage_->set_paused(0, true);
      stage_->set_paused(0, false);
      held_ = false;
      release_(0);
    });
    return true;
  }
  void finish() override { finished_ = true; }

  bool finished_ = false;
  bool done_ = false;
  std::atomic<bool> held_ = false;
  int moved_while_held_ = 0;

 private:
  Stage* stage_ = nullptr;
  std::function<void(std::size_t)> release_;
  std::jthread thread_;
};

TEST_F(RunnerTest, HeldLaneStandsStillUntilReleased) {
  Holder nemesis;
  const HistoryFile file = run_clients({"{programs}/holdfast-noop-client"}, 200, &nemesis);
  EXPECT_EQ(count(file, EventType::ok, "noop"), 200U);
  EXPECT_TRUE(nemesis.done_);
  EXPECT_TRUE(nemesis.finished_);
  EXPECT_EQ(nemesis.moved_while_held_, 0);
}

TEST_F(RunnerTest, InterruptEndsTheRunAndKeepsTheHistory) {
  std::atomic<bool> interrupted = false;
  Workload workload;
  workload.generator = time_limit(seconds(60), repeat({"noop", "", nullptr}));
  SystemEntry system{.name = "test", .client = {"{programs}/holdfast-noop-client"}};
  Recorder recorder(file_);
  run({.system = system,
       .cluster = cluster_,
       .server = server_,
       .workload = workload,
       .recorder = recorder,
       .concurrency = 2,
       .interrupted = &interrupted,
       .on_status = [&](const RunStatus& status) { interrupted = interrupted || status.ok > 10; }});
  recorder.close();
  EXPECT_GT(read_history(file_).history.operations().size(), 10U);
}

TEST_F(RunnerTest, NeverWritesOverWhatIsThere) {
  std::filesystem::create_symlink("/dev/full", file_);
  EXPECT_THROW(Recorder recorder(file_), UsageError);  // never writes over what is there
}

}  // namespace
}  // namespace holdfast
