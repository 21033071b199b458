#include <chrono>
#include <utility>

#include "nemesis/disk.h"
#include "nemesis/disk_target.h"

namespace holdfast {

namespace {

constexpr unsigned kWritesPerSecond = 50;
// The kernel lets the first few of a row of writes pass, so a short row looks faster than the limit. A long one would
// hold up the run.
constexpr int kProbes = 12;
constexpr double kSurelyFaster = 5;

// Measured by a process of the node: the limit is for those.
double writes_per_second(Node& node) {
  const std::string file = node.data_folder() + "/.holdfast-speed";
  const auto start = std::chrono::steady_clock::now();
  node.must_run({{"dd", "if=/dev/zero", "of=" + file, "bs=512", "count=" + std::to_string(kProbes), "oflag=dsync"}, {}},
                std::chrono::seconds(30));
  return kProbes / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class SlowDisk final : public ActiveFault {
 public:
  explicit SlowDisk(const DiskTarget& target) : target_(target), before_(writes_per_second(target.node())) {
    target_.disk().slow_down(kWritesPerSecond);
  }
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;
  ~SlowDisk() override { heal_quietly(*this, target_); }
  [[nodiscard]] Value target() const override { return target_.description(); }
  Effect effect() override {
    const double rate = writes_per_second(target_.node());
    return {rate < kSurelyFaster * kWritesPerSecond && rate < before_ / 2,
            {{"writes_per_second", rate}, {"writes_per_second_before", before_}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    target_.disk().speed_up();
    Effect effect = target_.back_in_service();
    // A busy machine can make a healthy disk look slow for a moment, never a slow one healthy.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    double rate = writes_per_second(target_.node());
    while (rate <= kSurelyFaster * kWritesPerSecond && std::chrono::steady_clock::now() < deadline) {
      rate = writes_per_second(target_.node());
    }
    effect.seen = effect.seen && rate > kSurelyFaster * kWritesPerSecond;
    effect.evidence["writes_per_second"] = rate;
    return effect;
  }

 private:
  DiskTarget target_;
  double before_;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_disk_slow(const std::string& /*target*/) {
  return make_disk_fault(
      [](const DiskTarget& target) -> std::unique_ptr<ActiveFault> { return std::make_unique<SlowDisk>(target); });
}

}  // namespace holdfast
