#include "clusters/local/interface.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/error.h"

namespace holdfast {

namespace {

void configure(const std::string& interface, unsigned long request, ifreq& question) {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw system_error("socket");
  interface.copy(static_cast<char*>(question.ifr_name), IFNAMSIZ - 1);
  const bool done = ::ioctl(descriptor, request, &question) == 0;
  ::close(descriptor);
  if (!done) throw system_error(fmt::format("configure network interface {}", interface));
}

}  // namespace

void bring_up(const std::string& interface) {
  ifreq question{};
  configure(interface, SIOCGIFFLAGS, question);
  question.ifr_flags = static_cast<short>(question.ifr_flags | IFF_UP | IFF_RUNNING);
  configure(interface, SIOCSIFFLAGS, question);
}

}  // namespace holdfast
