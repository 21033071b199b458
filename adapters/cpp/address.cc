#include "adapters/cpp/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace holdfast {

Address parse_address(std::string_view text) {
  const auto refuse = [text] {
    return std::invalid_argument('"' + std::string(text) + "\" is not an address; write it as IP:PORT");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) throw refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);

  Address address;
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || stop != port.data() + port.size() || address.port < 0 || address.port > 65535)
    throw refuse();
  const auto network_port = htons(static_cast<std::uint16_t>(address.port));

  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 inet{};
    inet.sin6_family = AF_INET6;
    inet.sin6_port = network_port;
    if (inet_pton(AF_INET6, std::string(host).c_str(), &inet.sin6_addr) != 1) throw refuse();
    std::memcpy(&address.storage, &inet, sizeof inet);
    address.size = sizeof inet;
  } else {
    sockaddr_in inet{};
    inet.sin_family = AF_INET;
    inet.sin_port = network_port;
    if (inet_pton(AF_INET, std::string(host).c_str(), &inet.sin_addr) != 1) throw refuse();
    std::memcpy(&address.storage, &inet, sizeof inet);
    address.size = sizeof inet;
  }
  address.host = host;
  return address;
}

bool wait_for(int descriptor, short events, std::chrono::steady_clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{.fd = descriptor, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
}

int connect_to(const Address& address, std::chrono::milliseconds limit) {
  const int descriptor = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "socket");
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  int cause = 0;
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
    cause = errno;
    if (cause == EINPROGRESS) {
      socklen_t size = sizeof cause;
      if (!wait_for(descriptor, POLLOUT, std::chrono::steady_clock::now() + limit)) {
        cause = ETIMEDOUT;
      } else {
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &cause, &size);
      }
    }
  }
  if (cause != 0) {
    close(descriptor);
    throw std::system_error(cause, std::generic_category(), "connect");
  }
  return descriptor;
}

}  // namespace holdfast
