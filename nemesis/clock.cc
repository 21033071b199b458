#include "nemesis/clock.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "harness/error.h"
#include "harness/log.h"
#include "nemesis/clock_target.h"

namespace holdfast {

namespace {

using std::chrono::seconds;

constexpr seconds kJump(60);
constexpr int kDeadManSeconds = 60;

// A local node's own clock.
class JumpedClock final : public ActiveFault {
 public:
  JumpedClock(ClockTarget target, seconds by) : target_(std::move(target)), by_(by), before_(told(target_).wall) {
    own_clock(*target_.node).jump(by_);
  }
  JumpedClock(const JumpedClock&) = delete;
  JumpedClock& operator=(const JumpedClock&) = delete;
  ~JumpedClock() override {
    if (!healed_) own_clock(*target_.node).heal();
  }
  [[nodiscard]] Value target() const override { return target_.description; }
  Effect effect() override {
    const ClockReading reading = told(target_).wall;
    return {reading.current && reading.ahead == by_,
            {{"seconds_ahead", in_seconds(reading.ahead)},
             {"seconds_ahead_before", in_seconds(before_.ahead)},
             {"read_by_target", reading.current}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    own_clock(*target_.node).heal();
    return wall_is_right(target_);
  }

 private:
  ClockTarget target_;
  seconds by_;
  ClockReading before_;
  bool healed_ = false;
};

void shift(Node& node, seconds by) {
  const CommandResult result = node.run({{"date", "-s", fmt::format("{} seconds", by.count())}, {}}, seconds(5));
  if (result.ok()) return;
  throw Error(
      fmt::format("{}: the clock cannot be set: {}; it takes root (CAP_SYS_TIME) on a host with a clock of its own",
                  node.name(), result.errors.substr(0, result.errors.find('\n'))));
}

// The real clock of a host.
class JumpedHost final : public ActiveFault {
 public:
  JumpedHost(ClockTarget target, seconds by) : target_(std::move(target)), by_(by), before_(wall_ahead(node())) {
    shift(node(), by_);
    dead_man_ = node().start_daemon(
        {{"sh", "-c", fmt::format("sleep {}; date -s '{} seconds'", kDeadManSeconds, -by_.count())}, {}}, "/dev/null");
  }
  JumpedHost(const JumpedHost&) = delete;
  JumpedHost& operator=(const JumpedHost&) = delete;
  ~JumpedHost() override {
    try {
      JumpedHost::heal();
    } catch (const Error& error) {
      log(LogLevel::error, node().name(), error.what());
    }
  }
  [[nodiscard]] Value target() const override { return target_.description; }
  Effect effect() override {
    const double moved = wall_ahead(node()) - before_;
    return {std::abs(moved - static_cast<double>(by_.count())) < kTolerance, {{"seconds_ahead", moved}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    dead_man_.reset();
    shift(node(), -by_);
    const double moved = wall_ahead(node()) - before_;
    return {std::abs(moved) < kTolerance, {{"seconds_ahead", moved}}};
  }

 private:
  static constexpr double kTolerance = 15;  // asking a host for the time may take a while, too
  [[nodiscard]] Node& node() const { return *target_.node; }

  ClockTarget target_;
  seconds by_;
  double before_;
  std::unique_ptr<NodeProcess> dead_man_;
  bool healed_ = false;
};

class ClockJump final : public Fault {
 public:
  ClockJump(std::string target, seconds by) : target_(std::move(target)), by_(by) {}

 private:
  void rehearse(Cluster& cluster) override {
    for (Node* node : target_ == "holder" ? cluster.clients() : cluster.servers()) {
      if (node->clock() == nullptr) shift(*node, seconds(0));
    }
  }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) override {
    ClockTarget target = clock_target(target_, stage, lane, rng);
    if (target.node->clock() != nullptr) return std::make_unique<JumpedClock>(std::move(target), by_);
    return std::make_unique<JumpedHost>(std::move(target), by_);
  }

  std::string target_;
  seconds by_;
};

}  // namespace

std::unique_ptr<Fault> make_clock_jump(const std::string& target, seconds by) {
  return std::make_unique<ClockJump>(target, by);
}

std::unique_ptr<Fault> make_clock(const std::string& target) {
  return make_clock_jump(target, kJump);
}

std::unique_ptr<Fault> make_clock_back(const std::string& target) {
  return make_clock_jump(target, -kJump);
}

}  // namespace holdfast
