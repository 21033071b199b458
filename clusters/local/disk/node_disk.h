// The disk of a local node: an image in the node's own memory, as a loop device with a journaling file system (ext4),
// mounted on its data folder in its own mount namespace. Nobody else sees it, and it dies with the node.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "clusters/local/disk/loop_device.h"
#include "clusters/local/disk/throttle.h"
#include "harness/disk.h"
#include "harness/node.h"

namespace holdfast {

class LocalDisk final : public NodeDisk {
 public:
  // `init` is PID 1 of the node as this process sees it. The data folder must still be empty.
  LocalDisk(Node& node, pid_t init);

  void cut() override;
  void make_read_only() override;
  DiskLoss put_back() override;
  void fill() override;
  void free() override;
  void slow_down(unsigned writes_per_second) override;
  void speed_up() override;
  [[nodiscard]] int try_to_write() override;

 private:
  void mount();
  void unmount();
  [[nodiscard]] std::filesystem::path seen_from_here(const std::string& theirs) const;

  Node& node_;
  pid_t init_;
  std::unique_ptr<LoopDevice> device_;
  std::unique_ptr<Throttle> throttle_;
};

}  // namespace holdfast
