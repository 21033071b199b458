#include "clusters/local/disk/node_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>

#include "harness/error.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kImage = "/.disk";  // on the node, beside the data folder
constexpr const char* kSynced = "/.holdfast-synced";
constexpr const char* kUnsynced = "/.holdfast-unsynced";
constexpr const char* kFiller = "/.holdfast-filler";
constexpr const char* kCanary = "/.holdfast-canary";
constexpr off_t kSize = off_t{256} << 20U;
constexpr off_t kBlock = 4096;

// The file system's own call for tests of power loss: nothing more is written, not even the journal.
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kWithoutJournal = 2;

// 0, or the error number.
int write_file(const std::filesystem::path& file, std::size_t size, bool sync) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  const std::string text(size, 'x');
  const bool done = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    (!sync || ::fsync(descriptor) == 0);
  const int error = done ? 0 : errno;
  ::close(descriptor);
  return error;
}

void must(int error, const std::string& what) {
  if (error != 0) throw Error(fmt::format("{}: {}", what, std::strerror(error)));
}

bool has_content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return in.get() == 'x';
}

}  // namespace

LocalDisk::LocalDisk(Node& node, pid_t init) : node_(node), init_(init) {
  if (!std::filesystem::is_empty(seen_from_here(node_.data_folder()))) {
    throw Error(fmt::format("{}: a disk is put into a node before anything runs there", node_.name()));
  }
  // No block is reserved for the administrator, so that full means full.
  node_.must_run(
      {{"sh", "-c", "truncate -s \"$1\" \"$2\" && mkfs.ext4 -q -F -m 0 -b 4096 -E lazy_itable_init=1,nodiscard \"$2\"",
        "sh", std::to_string(kSize), kImage},
       {}},
      seconds(20));
  mount();
  must(write_file(seen_from_here(node_.data_folder() + kSynced), 1, true), "write on the new disk");
  const int folder = ::open(seen_from_here(node_.data_folder()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::syncfs(folder) == 0;
  if (folder >= 0) ::close(folder);
  if (!synced) throw system_error(fmt::format("{}: sync the new disk", node_.name()));
}

std::filesystem::path LocalDisk::seen_from_here(const std::string& theirs) const {
  return fmt::format("/proc/{}/root{}", init_, theirs);
}

// The journal is written every five minutes at the latest, not every five seconds: what nobody synced stays unsynced.
void LocalDisk::mount() {
  device_ = std::make_unique<LoopDevice>(seen_from_here(kImage));
  node_.must_run({{"sh", "-c",
                   "cd / && { test -b \"/dev/loop$1\" || mknod \"/dev/loop$1\" b 7 \"$1\"; } && "
                   "exec mount -t ext4 -o commit=300,errors=remount-ro \"/dev/loop$1\" \"$2\"",
                   "sh", std::to_string(device_->number()), node_.data_folder()},
                  {}},
                 seconds(10));
  device_->let_go();
}

// Only when the device is free, too, is the old file system really gone: a process that still had it open would go on
// seeing the dead one.
void LocalDisk::unmount() {
  const auto deadline = std::chrono::steady_clock::now() + seconds(5);
  CommandResult result;
  bool mounted = true;
  while (mounted || device_->attached()) {
    if (mounted) {
      result = node_.run({{"sh", "-c", "cd / && exec umount \"$1\"", "sh", node_.data_folder()}, {}}, seconds(5));
      mounted = !result.ok();
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw Error(fmt::format("{}: the disk cannot be taken out: {}", node_.name(),
                              mounted ? result.errors.substr(0, result.errors.find('\n')) : "it is still in use"));
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void LocalDisk::cut() {
  must(write_file(seen_from_here(node_.data_folder() + kUnsynced), 1, false), "write before the cut");
  const int folder = ::open(seen_from_here(node_.data_folder()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) throw system_error(fmt::format("{}: open the data folder", node_.name()));
  std::uint32_t how = kWithoutJournal;
  const int result = ::ioctl(folder, kShutdown, &how);
  const int error = errno;
  ::close(folder);
  must(result == 0 ? 0 : error, fmt::format("{}: cut the disk off", node_.name()));
}

void LocalDisk::make_read_only() {
  const std::string trigger = fmt::format("/sys/fs/ext4/loop{}/trigger_fs_error", device_->number());
  std::ofstream out(trigger);
  out << "holdfast: asked for";
  if (!out.flush()) throw Error(fmt::format("{}: the kernel takes no errors at {}", node_.name(), trigger));
}

DiskLoss LocalDisk::put_back() {
  unmount();
  mount();
  const std::string folder = node_.data_folder();
  return {has_content(seen_from_here(folder + kSynced)), !has_content(seen_from_here(folder + kUnsynced))};
}

void LocalDisk::fill() {
  const std::filesystem::path file = seen_from_here(node_.data_folder() + kFiller);
  const int filler = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (filler < 0) throw system_error(fmt::format("{}: fill the disk", node_.name()));
  off_t end = 0;
  for (off_t piece = kSize; piece >= kBlock;) {
    if (::fallocate(filler, 0, end, piece) == 0) {
      end += piece;
    } else {
      piece /= 2;
    }
  }
  ::close(filler);
}

void LocalDisk::free() {
  std::error_code error;
  std::filesystem::remove(seen_from_here(node_.data_folder() + kFiller), error);
  if (error) throw Error(fmt::format("{}: empty the disk: {}", node_.name(), error.message()));
}

void LocalDisk::slow_down(unsigned writes_per_second) {
  throttle_ = std::make_unique<Throttle>(node_.name(), init_, device_->number(), writes_per_second);
}

void LocalDisk::speed_up() {
  throttle_.reset();
}

int LocalDisk::try_to_write() {
  const std::filesystem::path file = seen_from_here(node_.data_folder() + kCanary);
  const int error = write_file(file, static_cast<std::size_t>(kBlock), true);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return error;
}

}  // namespace holdfast
