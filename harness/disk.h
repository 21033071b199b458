// NodeDisk: a disk of a node's own under its data folder, which faults may break.
#pragma once

namespace holdfast {

// What a disk still knows after it was cut off.
struct DiskLoss {
  bool kept_synced = false;    // a file that was synced is still there
  bool lost_unsynced = false;  // one that was not is gone, or empty
};

// Thread-safe as long as one fault at a time uses it. Members throw Error.
class NodeDisk {
 public:
  virtual ~NodeDisk() = default;
  // From now on nothing reaches the disk: every operation on it fails (EIO). What was not synced is gone for good.
  virtual void cut() = 0;
  // An error that makes the kernel refuse every further change (EROFS), as it does to save what there is.
  virtual void make_read_only() = 0;
  // Puts a disk that was cut off or made read-only back, as a reboot does. No process may be using it.
  virtual DiskLoss put_back() = 0;
  virtual void fill() = 0;  // not one block is left (ENOSPC)
  virtual void free() = 0;
  virtual void slow_down(unsigned writes_per_second) = 0;
  virtual void speed_up() = 0;
  // Writes and syncs a little file. The error number that this ends with; 0: it worked.
  [[nodiscard]] virtual int try_to_write() = 0;
};

}  // namespace holdfast
