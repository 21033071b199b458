#include "clusters/local/interface.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

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

void set_inet(const std::string& interface, unsigned long request, const std::string& address) {
  sockaddr_in inet{};
  inet.sin_family = AF_INET;
  HOLDFAST_CHECK(::inet_pton(AF_INET, address.c_str(), &inet.sin_addr) == 1, "addresses are made by us");
  ifreq question{};
  std::memcpy(&question.ifr_addr, &inet, sizeof inet);
  configure(interface, request, question);
}

}  // namespace

void bring_up(const std::string& interface) {
  ifreq question{};
  configure(interface, SIOCGIFFLAGS, question);
  question.ifr_flags = static_cast<short>(question.ifr_flags | IFF_UP | IFF_RUNNING);
  configure(interface, SIOCSIFFLAGS, question);
}

void set_address(const std::string& interface, const std::string& address) {
  set_inet(interface, SIOCSIFADDR, address);
  set_inet(interface, SIOCSIFNETMASK, "255.255.255.0");
}

}  // namespace holdfast
