// For tests of the network: sockets of this very process that lie in a node's network, so that what is sent and what
// arrives is counted one by one and timed by one clock.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "clusters/local/node.h"
#include "harness/error.h"

namespace holdfast {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  SocketAddress(const std::string& address, std::uint16_t port) {
    if (address.find(':') == std::string::npos) {
      sockaddr_in in{};
      in.sin_family = AF_INET;
      in.sin_port = htons(port);
      HOLDFAST_CHECK(::inet_pton(AF_INET, address.c_str(), &in.sin_addr) == 1, "an address of a node");
      std::memcpy(&storage, &in, size = sizeof in);
    } else {
      sockaddr_in6 in{};
      in.sin6_family = AF_INET6;
      in.sin6_port = htons(port);
      HOLDFAST_CHECK(::inet_pton(AF_INET6, address.c_str(), &in.sin6_addr) == 1, "an address of a node");
      std::memcpy(&storage, &in, size = sizeof in);
    }
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

class NodeSocket {
 public:
  NodeSocket(Node& node, int family, int type) {
    const pid_t init = dynamic_cast<LocalNode&>(node).init();
    // A thread of its own goes there and is gone: the socket stays where it was made.
    std::thread([&] {
      const int there = ::open(("/proc/" + std::to_string(init) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
      if (::setns(there, CLONE_NEWNET) == 0) descriptor_ = ::socket(family, type | SOCK_CLOEXEC, 0);
      ::close(there);
    }).join();
    if (descriptor_ < 0) throw system_error("make a socket in a node");
    const int room = 8 << 20;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  }
  explicit NodeSocket(int descriptor) : descriptor_(descriptor) {}
  NodeSocket(const NodeSocket&) = delete;
  NodeSocket& operator=(const NodeSocket&) = delete;
  ~NodeSocket() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool readable_within(std::chrono::milliseconds limit) const {
    pollfd watched{descriptor_, POLLIN, 0};
    return ::poll(&watched, 1, static_cast<int>(limit.count())) == 1;
  }

 private:
  int descriptor_ = -1;
};

// A one-way stream of numbered datagrams from one node to another.
class Wire {
 public:
  static constexpr std::uint16_t kPort = 9000;
  Wire(Node& from, Node& to, const std::string& address)
      : to_(address, kPort), out_(from, to_.storage.ss_family, SOCK_DGRAM), in_(to, to_.storage.ss_family, SOCK_DGRAM) {
    if (::bind(in_.descriptor(), to_.get(), to_.size) != 0) throw system_error("listen on a node");
  }
  Wire(Node& from, Node& to) : Wire(from, to, to.address()) {}

  void send(std::uint32_t number, std::size_t size = 64) {
    std::array<std::uint8_t, 1400> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    if (::sendto(out_.descriptor(), bytes.data(), size, 0, to_.get(), to_.size) < 0) throw system_error("send");
  }
  struct Arrival {
    std::uint32_t number = 0;
    bool whole = true;  // the bytes are as they were sent
  };
  // Empty: nothing came within the time.
  std::optional<Arrival> receive(std::chrono::milliseconds limit) {
    if (!in_.readable_within(limit)) return std::nullopt;
    std::array<std::uint8_t, 1500> bytes{};
    const ssize_t size = ::recv(in_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 4) return std::nullopt;  // a datagram whose checksum was wrong woke us up for nothing
    Arrival arrival;
    std::memcpy(&arrival.number, bytes.data(), sizeof arrival.number);
    for (std::size_t i = 4; i < static_cast<std::size_t>(size); ++i) arrival.whole = arrival.whole && bytes.at(i) == 0;
    return arrival;
  }

 private:
  SocketAddress to_;
  NodeSocket out_;
  NodeSocket in_;
};

}  // namespace holdfast
