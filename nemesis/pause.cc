#include "nemesis/pause.h"

#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;

// A stop is asynchronous: threads on other cores run on for a moment.
bool reaches(NodeProcess& process, ProcessState wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (process.state() != wanted) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

const char* letter(ProcessState state) {
  switch (state) {
    case ProcessState::running:
      return "R";
    case ProcessState::stopped:
      return "T";
    case ProcessState::gone:
      return "gone";
  }
  return "?";
}

Effect stopped(NodeProcess& process) {
  const bool seen = reaches(process, ProcessState::stopped);
  return {seen, {{"state", seen ? "T" : letter(process.state())}}};
}

Effect going_on(NodeProcess& process) {
  process.signal(SIGCONT);
  const bool seen = reaches(process, ProcessState::running);
  const ProcessState state = process.state();
  return {seen || state == ProcessState::gone, {{"state", letter(state)}}};  // a dead process is not stopped any more
}

class PausedClient final : public ActiveFault {
 public:
  PausedClient(Stage& stage, ClientProcess client) : stage_(stage), client_(std::move(client)) {
    stage_.set_paused(client_.lane, true);
    client_.process->signal(SIGSTOP);
  }
  PausedClient(const PausedClient&) = delete;
  PausedClient& operator=(const PausedClient&) = delete;
  ~PausedClient() override {
    try {
      PausedClient::heal();
    } catch (const Error& error) {
      log(LogLevel::error, client_.node->name(), error.what());
    }
  }
  [[nodiscard]] Value target() const override {
    return {{"process", number(client_.number)}, {"lane", client_.lane}, {"node", client_.node->name()}};
  }
  Effect effect() override { return stopped(*client_.process); }
  Effect heal() override {
    if (healed_) return {true, {}};
    healed_ = true;
    const Effect effect = going_on(*client_.process);
    stage_.set_paused(client_.lane, false);
    return effect;
  }

 private:
  Stage& stage_;
  ClientProcess client_;
  bool healed_ = false;
};

class PausedServer final : public ActiveFault {
 public:
  PausedServer(Server& server, Node& node) : server_(server), node_(node) { server_.process(node_).signal(SIGSTOP); }
  PausedServer(const PausedServer&) = delete;
  PausedServer& operator=(const PausedServer&) = delete;
  ~PausedServer() override {
    try {
      PausedServer::heal();
    } catch (const Error& error) {
      log(LogLevel::error, node_.name(), error.what());
    }
  }
  [[nodiscard]] Value target() const override { return {{"node", node_.name()}, {"server", true}}; }
  Effect effect() override { return stopped(server_.process(node_)); }
  Effect heal() override {
    if (healed_) return {true, {}};
    healed_ = true;
    Effect effect = going_on(server_.process(node_));
    effect.seen = effect.seen && server_.ready(node_);
    return effect;
  }

 private:
  Server& server_;
  Node& node_;
  bool healed_ = false;
};

class PauseHolder final : public Fault {
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& /*rng*/) override {
    HOLDFAST_CHECK(lane.has_value(), "a plan that hits the holder is set off by a client");
    ClientProcess client = stage.client(*lane);
    if (client.process == nullptr) throw Error("the holder's process is not running any more");
    return std::make_unique<PausedClient>(stage, std::move(client));
  }
};

class PauseServer final : public Fault {
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> /*lane*/, Rng& rng) override {
    const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
    if (primaries.empty()) throw Error("there is no primary to pause");
    return std::make_unique<PausedServer>(stage.server(), *primaries[rng.below(primaries.size())]);
  }
};

}  // namespace

std::unique_ptr<Fault> make_pause(const std::string& target) {
  if (target == "server") return std::make_unique<PauseServer>();
  return std::make_unique<PauseHolder>();
}

}  // namespace holdfast
