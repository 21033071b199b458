#include <cerrno>
#include <utility>

#include "nemesis/disk.h"
#include "nemesis/disk_target.h"

namespace holdfast {

namespace {

// A disk that takes no writes any more while the server lives on. Only a new start of both makes it well.
class BrokenDisk final : public ActiveFault {
 public:
  BrokenDisk(const DiskTarget& target, int error) : target_(target), error_(error) {
    if (error_ == EROFS) {
      target_.disk().make_read_only();
    } else {
      target_.disk().cut();
    }
  }
  BrokenDisk(const BrokenDisk&) = delete;
  BrokenDisk& operator=(const BrokenDisk&) = delete;
  ~BrokenDisk() override { heal_quietly(*this, target_); }
  [[nodiscard]] Value target() const override { return target_.description(); }
  Effect effect() override { return target_.write_fails_with(error_); }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    target_.kill_server();
    target_.disk().put_back();
    return target_.back_in_service();
  }

 private:
  DiskTarget target_;
  int error_;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_disk_read_only(const std::string& /*target*/) {
  return make_disk_fault([](const DiskTarget& target) -> std::unique_ptr<ActiveFault> {
    return std::make_unique<BrokenDisk>(target, EROFS);
  });
}

std::unique_ptr<Fault> make_disk_dead(const std::string& /*target*/) {
  return make_disk_fault([](const DiskTarget& target) -> std::unique_ptr<ActiveFault> {
    return std::make_unique<BrokenDisk>(target, EIO);
  });
}

}  // namespace holdfast
