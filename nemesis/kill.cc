#include "nemesis/kill.h"

#include <csignal>

#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

using std::chrono::seconds;

class KilledClient final : public ActiveFault {
 public:
  KilledClient(Stage& stage, ClientProcess client) : stage_(stage), client_(std::move(client)) {
    client_.process->signal(SIGKILL);
  }
  [[nodiscard]] Value target() const override {
    return {{"process", number(client_.number)}, {"lane", client_.lane}, {"node", client_.node->name()}};
  }
  Effect effect() override {
    const std::optional<ExitStatus> status = client_.process->wait(seconds(2));
    return {status.has_value(), {{"ended", status ? to_string(*status) : "not yet"}}};
  }
  // The runner replaces a dead client by itself; there is nothing to undo, only to wait for.
  Effect heal() override {
    const bool back = stage_.wait_for_new_client(client_.lane, client_.number, seconds(10));
    return {back, {{"successor", back}}};
  }

 private:
  Stage& stage_;
  ClientProcess client_;
};

class KilledServer final : public ActiveFault {
 public:
  KilledServer(Server& server, Node& node) : server_(server), node_(node) { server_.kill(node_); }
  KilledServer(const KilledServer&) = delete;
  KilledServer& operator=(const KilledServer&) = delete;
  ~KilledServer() override {
    try {
      KilledServer::heal();
    } catch (const Error& error) {
      log(LogLevel::error, node_.name(), error.what());
    }
  }
  [[nodiscard]] Value target() const override { return {{"node", node_.name()}, {"server", true}}; }
  Effect effect() override {
    const bool answers = server_.ready(node_);
    return {!answers, {{"answers", answers}}};
  }
  Effect heal() override {
    if (healed_) return {true, {}};
    healed_ = true;
    server_.start(node_);
    return {true, {{"answers", true}}};
  }

 private:
  Server& server_;
  Node& node_;
  bool healed_ = false;
};

class KillHolder final : public Fault {
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& /*rng*/) override {
    HOLDFAST_CHECK(lane.has_value(), "a plan that hits the holder is set off by a client");
    ClientProcess client = stage.client(*lane);
    if (client.process == nullptr) throw Error("the holder's process is not running any more");
    return std::make_unique<KilledClient>(stage, std::move(client));
  }
};

class KillServer final : public Fault {
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> /*lane*/, Rng& rng) override {
    const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
    if (primaries.empty()) throw Error("there is no primary to kill");
    return std::make_unique<KilledServer>(stage.server(), *primaries[rng.below(primaries.size())]);
  }
};

}  // namespace

std::unique_ptr<Fault> make_kill(const std::string& target) {
  if (target == "server") return std::make_unique<KillServer>();
  return std::make_unique<KillHolder>();
}

}  // namespace holdfast
