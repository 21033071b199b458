#include <utility>

#include "nemesis/disk.h"
#include "nemesis/disk_target.h"

namespace holdfast {

namespace {

// The order matters: first the disk takes nothing more, then the server dies, so that it cannot save anything.
class PowerLoss final : public ActiveFault {
 public:
  explicit PowerLoss(const DiskTarget& target) : target_(target) {
    target_.disk().cut();
    target_.kill_server();
    loss_ = target_.disk().put_back();
  }
  PowerLoss(const PowerLoss&) = delete;
  PowerLoss& operator=(const PowerLoss&) = delete;
  ~PowerLoss() override { heal_quietly(*this, target_); }
  [[nodiscard]] Value target() const override { return target_.description(); }
  Effect effect() override {
    return {loss_.lost_unsynced && loss_.kept_synced,
            {{"lost_unsynced", loss_.lost_unsynced}, {"kept_synced", loss_.kept_synced}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    return target_.back_in_service();
  }

 private:
  DiskTarget target_;
  DiskLoss loss_;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_disk_power(const std::string& /*target*/) {
  return make_disk_fault(
      [](const DiskTarget& target) -> std::unique_ptr<ActiveFault> { return std::make_unique<PowerLoss>(target); });
}

}  // namespace holdfast
