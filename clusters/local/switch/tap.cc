#include "clusters/local/switch/tap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr const char* kDevice = "/dev/net/tun";
// How many frames the kernel keeps for us while the switch is busy: a burst of a whole socket buffer of small
// datagrams.
constexpr unsigned kQueue = 8192;

// In another process's network namespace for as long as this lives.
class Visit {
 public:
  explicit Visit(int process) {
    if (process == 0) return;
    home_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    const int there = ::open(fmt::format("/proc/{}/ns/net", process).c_str(), O_RDONLY | O_CLOEXEC);
    const bool entered = home_ >= 0 && there >= 0 && ::setns(there, CLONE_NEWNET) == 0;
    const int error = errno;
    if (there >= 0) ::close(there);
    if (entered) return;
    if (home_ >= 0) ::close(home_);
    errno = error;
    throw system_error("enter a node's network");
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    if (home_ < 0) return;
    HOLDFAST_CHECK(::setns(home_, CLONE_NEWNET) == 0, "the way back is always open");
    ::close(home_);
  }

 private:
  int home_ = -1;
};

std::string obstacle_of(int error) {
  switch (error) {
    case ENOENT:
      return fmt::format("{} is missing: as root, mkdir -p /dev/net && mknod {} c 10 200 && chmod 666 {}", kDevice,
                         kDevice, kDevice);
    case ENODEV:
    case ENXIO:
      return fmt::format("the kernel has no TAP devices behind {}: as root, modprobe tun", kDevice);
    case EACCES:
    case EPERM:
      return fmt::format("{} is closed to this user: as root, chmod 666 {} (what it makes stays in one's own network)",
                         kDevice, kDevice);
    default:
      return fmt::format("{}; local nodes need TAP devices", system_error(fmt::format("open {}", kDevice)).what());
  }
}

}  // namespace

std::string tap_obstacle() {
  const int descriptor = ::open(kDevice, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return obstacle_of(errno);
  ::close(descriptor);
  return {};
}

Tap::Tap(int process, const std::string& name, const Station& self, const std::vector<Station>& neighbours)
    : mac_(self.mac) {
  const Visit visit(process);
  descriptor_ = ::open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) throw Error(obstacle_of(errno));
  try {
    configure(name, self, neighbours);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Tap::~Tap() {
  ::close(descriptor_);
}

void Tap::configure(const std::string& name, const Station& self, const std::vector<Station>& neighbours) {
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  name.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  if (::ioctl(descriptor_, TUNSETIFF, &request) != 0) throw system_error(fmt::format("make the TAP device {}", name));
  interface_ = ::if_nametoindex(name.c_str());
  route_ = std::make_unique<Route>();
  route_->bring_up(interface_, self.mac, kQueue);
  const bool ipv6 = Route::has_ipv6();
  route_->add_address(interface_, self.address);
  if (ipv6) route_->add_address(interface_, self.address6);
  for (const Station& neighbour : neighbours) {
    if (neighbour.mac == self.mac) continue;
    route_->add_neighbour(interface_, neighbour.address, neighbour.mac);
    if (ipv6) route_->add_neighbour(interface_, neighbour.address6, neighbour.mac);
  }
}

std::uint64_t Tap::overrun() {
  return route_->sending_dropped(interface_);
}

}  // namespace holdfast
