#include "clusters/systems/redis.h"

#include <fmt/format.h>

#include <csignal>
#include <map>
#include <mutex>
#include <thread>

#include "clusters/systems/debian.h"
#include "harness/error.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kPort = 6379;

class Redis final : public Server {
 public:
  [[nodiscard]] std::string_view name() const override { return "redis-server"; }

  void install(Node& node) override { need_program(node, "redis-server", "redis-server"); }

  void start(Node& node) override {
    if (ready(node)) {
      throw Error(fmt::format("{}: {} is taken: another redis-server answers there; stop it first", node.name(),
                              endpoint(node)));
    }
    node.must_run({{"mkdir", "-p", folder(node)}, {}}, seconds(5));
    auto process = node.start_daemon(
        {{"redis-server", "--bind", node.address(), "--port", std::to_string(kPort), "--dir", folder(node),
          "--protected-mode", "no", "--appendonly", "yes", "--appendfsync", "always", "--save", ""},
         {}},
        log(node));
    const auto deadline = std::chrono::steady_clock::now() + seconds(20);
    while (!ready(node)) {
      if (process->state() == ProcessState::gone) throw Error(last_words(node));
      if (std::chrono::steady_clock::now() > deadline) {
        throw Error(fmt::format("{}: redis-server does not answer on {} after 20 s", node.name(), endpoint(node)));
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    const std::lock_guard lock(mutex_);
    processes_[&node] = std::move(process);
  }

  void stop(Node& node) override { end(node, SIGTERM); }
  void kill(Node& node) override { end(node, SIGKILL); }
  void wipe(Node& node) override { node.must_run({{"rm", "-rf", folder(node)}, {}}, seconds(10)); }

  [[nodiscard]] NodeProcess& process(Node& node) override {
    const std::lock_guard lock(mutex_);
    const auto found = processes_.find(&node);
    if (found == processes_.end()) throw Error(fmt::format("{}: redis-server is not running", node.name()));
    return *found->second;
  }

  [[nodiscard]] bool ready(Node& node) override {
    const CommandResult answer =
        node.run({{"redis-cli", "-h", node.address(), "-p", std::to_string(kPort), "ping"}, {}}, seconds(2));
    return answer.ok() && answer.output.starts_with("PONG");
  }

  [[nodiscard]] std::string version(Node& node) override {
    const std::string line = node.must_run({{"redis-server", "--version"}, {}}, seconds(5)).output;
    const std::size_t at = line.find("v=");
    return at == std::string::npos ? line : line.substr(at + 2, line.find(' ', at) - at - 2);
  }

  [[nodiscard]] std::string endpoint(const Node& node) const override {
    return fmt::format("{}:{}", node.address(), kPort);
  }
  [[nodiscard]] std::vector<std::string> logs(const Node& node) const override { return {log(node)}; }

  [[nodiscard]] std::vector<Node*> primaries(std::span<Node* const> nodes) override {
    return {nodes.begin(), nodes.end()};
  }

 private:
  static std::string folder(const Node& node) { return node.data_folder() + "/redis"; }
  static std::string log(const Node& node) { return node.data_folder() + "/redis.log"; }

  void end(Node& node, int signal_number) {
    std::unique_ptr<NodeProcess> process;
    {
      const std::lock_guard lock(mutex_);
      const auto found = processes_.find(&node);
      if (found == processes_.end()) return;
      process = std::move(found->second);
      processes_.erase(found);
    }
    process->signal(SIGCONT);  // a stopped process would not hear a polite request
    process->signal(signal_number);
    if (!process->wait(seconds(10))) throw Error(fmt::format("{}: redis-server does not end", node.name()));
  }

  // Why it would not start, in its own words: the cause stands one line above the complaint that ends it.
  static std::string last_words(Node& node) {
    const CommandResult tail = node.run(
        {{"sh", "-c", "grep -aE 'rror|ailed|Could not|ddress' \"$1\" | tail -n 2 | head -n 1", "sh", log(node)}, {}},
        seconds(5));
    std::string said = tail.output.empty() ? "it left no message" : tail.output;
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return fmt::format("{}: redis-server ended at once on port {}: {}; see {} on the node", node.name(), kPort, said,
                       log(node));
  }

  std::mutex mutex_;
  std::map<const Node*, std::unique_ptr<NodeProcess>> processes_;
};

}  // namespace

std::unique_ptr<Server> make_redis() {
  return std::make_unique<Redis>();
}

}  // namespace holdfast
