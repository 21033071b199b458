#include "nemesis/clock.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

using std::chrono::seconds;

constexpr int kJumpSeconds = 30;
constexpr int kDeadManSeconds = 60;

// How far the node's wall clock is ahead of ours, to within the time that asking takes.
double ahead(Node& node) {
  const std::string text = node.must_run({{"date", "+%s.%N"}, {}}, seconds(5)).output;
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::strtod(text.c_str(), nullptr) - now;
}

void shift(Node& node, int by) {
  const CommandResult result = node.run({{"date", "-s", fmt::format("{} seconds", by)}, {}}, seconds(5));
  if (result.ok()) return;
  throw Error(
      fmt::format("{}: the clock cannot be set: {}; it takes root (CAP_SYS_TIME) on a host with a clock of its own",
                  node.name(), result.errors.substr(0, result.errors.find('\n'))));
}

class JumpedClock final : public ActiveFault {
 public:
  explicit JumpedClock(Node& node) : node_(node), before_(ahead(node)) {
    shift(node_, kJumpSeconds);
    dead_man_ = node_.start_daemon(
        {{"sh", "-c", fmt::format("sleep {}; date -s '{} seconds ago'", kDeadManSeconds, kJumpSeconds)}, {}},
        "/dev/null");
  }
  JumpedClock(const JumpedClock&) = delete;
  JumpedClock& operator=(const JumpedClock&) = delete;
  ~JumpedClock() override {
    try {
      JumpedClock::heal();
    } catch (const Error& error) {
      log(LogLevel::error, node_.name(), error.what());
    }
  }
  [[nodiscard]] Value target() const override { return {{"node", node_.name()}, {"server", true}}; }
  Effect effect() override {
    const double moved = ahead(node_) - before_;
    return {moved > kJumpSeconds / 2.0, {{"seconds_ahead", moved}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    dead_man_.reset();
    shift(node_, -kJumpSeconds);
    const double moved = ahead(node_) - before_;
    return {std::abs(moved) < kJumpSeconds / 2.0, {{"seconds_ahead", moved}}};
  }

 private:
  Node& node_;
  double before_;
  std::unique_ptr<NodeProcess> dead_man_;
  bool healed_ = false;
};

class ClockFault final : public Fault {
  void rehearse(Cluster& cluster) override {
    for (Node* node : cluster.servers()) shift(*node, 0);
  }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> /*lane*/, Rng& rng) override {
    const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
    if (primaries.empty()) throw Error("there is no primary whose clock could be set");
    return std::make_unique<JumpedClock>(*primaries[rng.below(primaries.size())]);
  }
};

}  // namespace

std::unique_ptr<Fault> make_clock(const std::string& /*target*/) {
  return std::make_unique<ClockFault>();
}

}  // namespace holdfast
