#include "nemesis/clock_strobe.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "nemesis/clock_target.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kSwing(60);
constexpr milliseconds kHalfPeriod(5);
constexpr std::uint32_t kEnough = 3;  // settings that the process must have met: there, back, and there again

class StrobingClock final : public ActiveFault {
 public:
  explicit StrobingClock(ClockTarget target)
      : target_(std::move(target)), before_(told(target_).wall.changes), worker_([this] { swing(); }) {}
  StrobingClock(const StrobingClock&) = delete;
  StrobingClock& operator=(const StrobingClock&) = delete;
  ~StrobingClock() override {
    stop();
    own_clock(*target_.node).heal();
  }
  [[nodiscard]] Value target() const override { return target_.description; }
  Effect effect() override {
    const auto deadline = std::chrono::steady_clock::now() + target_.patience;
    std::uint32_t met = 0;
    do {
      met = met_by_target();
      if (met >= kEnough) break;
      std::this_thread::sleep_for(milliseconds(1));
    } while (std::chrono::steady_clock::now() < deadline);
    return {met >= kEnough, {{"swings", swings_.load()}, {"swings_met_by_target", met}}};
  }
  Effect heal() override {
    if (!worker_.joinable()) return {true, {}};
    stop();
    own_clock(*target_.node).heal();
    return wall_is_right(target_);
  }

 private:
  [[nodiscard]] std::uint32_t met_by_target() const {
    const NodeProcess* const process = target_.process();
    if (process == nullptr) return 0;
    const std::optional<ClockReadings> readings = own_clock(*target_.node).told(*process);
    return readings ? readings->wall.changes - before_ : 0;
  }
  void swing() {
    NodeClock& clock = own_clock(*target_.node);
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      clock.jump(swings_ % 2 == 0 ? kSwing : -kSwing);
      ++swings_;
      changed_.wait_for(lock, kHalfPeriod, [this] { return stopping_; });
    }
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (worker_.joinable()) worker_.join();
  }

  ClockTarget target_;
  std::uint32_t before_;
  std::atomic<int> swings_ = 0;
  std::mutex mutex_;  // stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread worker_;  // last: it uses all of the above
};

class Strobe final : public Fault {
 public:
  explicit Strobe(std::string target) : target_(std::move(target)) {}

 private:
  void rehearse(Cluster& cluster) override { need_own_clocks(target_, cluster); }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) override {
    return std::make_unique<StrobingClock>(clock_target(target_, stage, lane, rng));
  }
  std::string target_;
};

}  // namespace

std::unique_ptr<Fault> make_clock_strobe(const std::string& target) {
  return std::make_unique<Strobe>(target);
}

}  // namespace holdfast
