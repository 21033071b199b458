#include <cerrno>
#include <utility>

#include "nemesis/disk.h"
#include "nemesis/disk_target.h"

namespace holdfast {

namespace {

class FullDisk final : public ActiveFault {
 public:
  explicit FullDisk(const DiskTarget& target) : target_(target) { target_.disk().fill(); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() override { heal_quietly(*this, target_); }
  [[nodiscard]] Value target() const override { return target_.description(); }
  Effect effect() override { return target_.write_fails_with(ENOSPC); }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    target_.disk().free();
    return target_.back_in_service();
  }

 private:
  DiskTarget target_;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_disk_full(const std::string& /*target*/) {
  return make_disk_fault(
      [](const DiskTarget& target) -> std::unique_ptr<ActiveFault> { return std::make_unique<FullDisk>(target); });
}

}  // namespace holdfast
