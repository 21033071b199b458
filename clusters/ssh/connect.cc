#include "clusters/ssh/connect.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/error.h"

namespace holdfast {
namespace {

using std::chrono::steady_clock;

struct Address {
  sockaddr_storage socket{};
  socklen_t size = 0;
  int family = 0;
};

struct Resolved {
  int error = 0;
  std::vector<Address> addresses;  // IPv4 first: partitions are made of IPv4 addresses
};

Resolved resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Resolved resolved;
  resolved.error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (resolved.error != 0) return resolved;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address{.socket = {}, .size = entry->ai_addrlen, .family = entry->ai_family};
    std::memcpy(&address.socket, entry->ai_addr, entry->ai_addrlen);
    resolved.addresses.push_back(address);
  }
  freeaddrinfo(list);
  std::stable_partition(resolved.addresses.begin(), resolved.addresses.end(),
                        [](const Address& address) { return address.family == AF_INET; });
  return resolved;
}

// getaddrinfo has no time-out, so it gets a thread that is left alone when it takes too long.
Resolved resolve_until(const std::string& host, unsigned port, steady_clock::time_point deadline) {
  auto promise = std::make_shared<std::promise<Resolved>>();
  std::future<Resolved> future = promise->get_future();
  std::thread([promise, host, service = std::to_string(port)] { promise->set_value(resolve(host, service)); }).detach();
  if (future.wait_until(deadline) != std::future_status::ready)
    throw Error(fmt::format("resolve {}: no answer in time; check the name server or write its IP as HostName", host));
  return future.get();
}

std::string numeric(const Address& address) {
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address.socket), address.size, text.data(), text.size(), nullptr,
                  0, NI_NUMERICHOST) != 0)
    return "?";
  return text.data();
}

void tune(int descriptor) {
  const auto set = [descriptor](int level, int name, int value) {
    (void)setsockopt(descriptor, level, name, &value, sizeof value);  // a refusal costs comfort, not correctness
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000);
}

// 0, or the errno of the attempt.
int attempt(int descriptor, const Address& address, steady_clock::time_point deadline) {
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address.socket), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd poller{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = poll(&poller, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }
}

}  // namespace

TcpConnection connect_tcp(const std::string& host, unsigned port, steady_clock::time_point deadline) {
  const Resolved resolved = resolve_until(host, port, deadline);
  if (resolved.error != 0) {
    throw Error(fmt::format("resolve {}: {}; check the name or give it a HostName in the ssh config", host,
                            gai_strerror(resolved.error)));
  }
  int error = EADDRNOTAVAIL;
  for (const Address& address : resolved.addresses) {
    const int descriptor = socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) throw system_error("socket");
    error = attempt(descriptor, address, deadline);
    if (error == 0) {
      tune(descriptor);
      return {.descriptor = descriptor, .address = numeric(address)};
    }
    close(descriptor);
  }
  throw Error(fmt::format("connect to {} port {}: {}; check that sshd listens there and no firewall is in between",
                          host, port, std::error_code(error, std::generic_category()).message()));
}

}  // namespace holdfast
