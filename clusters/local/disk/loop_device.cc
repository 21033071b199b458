#include "clusters/local/disk/loop_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr const char* kControl = "/dev/loop-control";

// The next free one; others may be looking for one at the same time.
int configure(const std::string& image, int& number) {
  const int control = ::open(kControl, O_RDWR | O_CLOEXEC);
  if (control < 0) {
    throw Error(fmt::format("{}; a node's own disk is a loop device: run as root, with the kernel module loop",
                            system_error(fmt::format("open {}", kControl)).what()));
  }
  const int file = ::open(image.c_str(), O_RDWR | O_CLOEXEC);
  int error = file < 0 ? errno : EBUSY;
  int device = -1;
  for (int tries = 0; tries < 20 && error == EBUSY && device < 0; ++tries) {
    number = ::ioctl(control, LOOP_CTL_GET_FREE);
    device = number < 0 ? -1 : ::open(fmt::format("/dev/loop{}", number).c_str(), O_RDWR | O_CLOEXEC);
    loop_config configuration{};
    configuration.fd = static_cast<unsigned>(file);
    configuration.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (device >= 0 && ::ioctl(device, LOOP_CONFIGURE, &configuration) == 0) break;
    error = errno;
    if (device >= 0) ::close(std::exchange(device, -1));
  }
  ::close(control);
  if (file >= 0) ::close(file);
  errno = error;
  return device;
}

}  // namespace

LoopDevice::LoopDevice(const std::string& image) : image_(image), device_(configure(image, number_)) {
  if (device_ < 0) throw system_error(fmt::format("make {} a loop device", image));
}

LoopDevice::~LoopDevice() {
  let_go();
}

void LoopDevice::let_go() {
  if (device_ >= 0) ::close(std::exchange(device_, -1));
}

bool LoopDevice::attached() const {
  const int device = ::open(fmt::format("/dev/loop{}", number_).c_str(), O_RDONLY | O_CLOEXEC);
  if (device < 0) return false;
  loop_info64 information{};
  struct stat ours{};
  const bool used = ::ioctl(device, LOOP_GET_STATUS64, &information) == 0 && ::stat(image_.c_str(), &ours) == 0 &&
                    information.lo_inode == ours.st_ino && information.lo_device == ours.st_dev;
  ::close(device);
  return used;
}

}  // namespace holdfast
