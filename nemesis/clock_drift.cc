#include "nemesis/clock_drift.h"

#include <cmath>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "nemesis/clock_target.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;

constexpr double kTwiceAsFast = 1;
constexpr milliseconds kStretch(20);  // at least so long between the two readings that a rate is measured from

class DriftingClock final : public ActiveFault {
 public:
  DriftingClock(ClockTarget target, double wall, double monotonic)
      : target_(std::move(target)), wall_(wall), monotonic_(monotonic) {
    const ClockReadings start = beginning();
    own_clock(*target_.node).drift(wall_, monotonic_);
    first_ = told(target_, clocks());
    if (!first_.wall.current) first_.wall = start.wall;
    if (!first_.monotonic.current) first_.monotonic = start.monotonic;
  }
  DriftingClock(const DriftingClock&) = delete;
  DriftingClock& operator=(const DriftingClock&) = delete;
  ~DriftingClock() override {
    if (!healed_) own_clock(*target_.node).heal();
  }
  [[nodiscard]] Value target() const override { return target_.description; }

  Effect effect() override {
    const ClockReadings last = after_a_stretch();
    const double wall = rate(first_.wall, last.wall);
    const double monotonic = rate(first_.monotonic, last.monotonic);
    return {is(wall, wall_) && (monotonic_ == 0 || is(monotonic, monotonic_)),
            {{"wall_rate", 1 + wall},
             {"monotonic_rate", 1 + monotonic},
             {"seconds_ahead", in_seconds(last.wall.ahead)},
             {"read_by_target", last.wall.current}}};
  }

  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    own_clock(*target_.node).heal();
    Effect effect = wall_is_right(target_);
    effect.evidence["monotonic_seconds_ahead"] = in_seconds(told(target_).monotonic.ahead);
    return effect;
  }

 private:
  // For a process that does not look at the clock as soon as it drifts: the clock as it was just before.
  ClockReadings beginning() {
    ClockReadings readings = told(target_, clocks());
    readings.wall.current = readings.monotonic.current = true;
    readings.wall.at = std::chrono::system_clock::now().time_since_epoch();
    readings.monotonic.at = std::chrono::steady_clock::now().time_since_epoch();
    readings.wall.ahead = {};
    return readings;
  }
  // Two different moments at which the process asked for the time; the same again when it never does.
  ClockReadings after_a_stretch() {
    const auto deadline = std::chrono::steady_clock::now() + target_.patience;
    while (true) {
      const ClockReadings last = told(target_, clocks());
      const bool enough = last.wall.at - first_.wall.at >= kStretch &&
                          (monotonic_ == 0 || last.monotonic.at - first_.monotonic.at >= kStretch);
      if (enough || std::chrono::steady_clock::now() >= deadline) return last;
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  [[nodiscard]] Clocks clocks() const { return monotonic_ == 0 ? Clocks::wall : Clocks::both; }
  static double rate(const ClockReading& first, const ClockReading& last) {
    if (!first.current || !last.current || last.at - first.at < kStretch) return 0;
    return in_seconds(last.ahead - first.ahead) / in_seconds(last.at - first.at);
  }
  static bool is(double measured, double wanted) { return std::abs(measured - wanted) <= std::abs(wanted) / 100; }

  ClockTarget target_;
  double wall_;
  double monotonic_;
  ClockReadings first_;
  bool healed_ = false;
};

class Drift final : public Fault {
 public:
  Drift(std::string target, double wall, double monotonic)
      : target_(std::move(target)), wall_(wall), monotonic_(monotonic) {}

 private:
  void rehearse(Cluster& cluster) override { need_own_clocks(target_, cluster); }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) override {
    return std::make_unique<DriftingClock>(clock_target(target_, stage, lane, rng), wall_, monotonic_);
  }

  std::string target_;
  double wall_;
  double monotonic_;
};

}  // namespace

std::unique_ptr<Fault> make_drift(const std::string& target, double wall, double monotonic) {
  return std::make_unique<Drift>(target, wall, monotonic);
}

std::unique_ptr<Fault> make_clock_drift(const std::string& target) {
  return make_drift(target, kTwiceAsFast, 0);
}

std::unique_ptr<Fault> make_clock_rate(const std::string& target) {
  return make_drift(target, kTwiceAsFast, kTwiceAsFast);
}

}  // namespace holdfast
