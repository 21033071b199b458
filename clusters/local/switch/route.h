// A conversation with the kernel about the interfaces of one network namespace (rtnetlink). It stays with the namespace
// that the thread was in when it began.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "clusters/local/switch/frame.h"

namespace holdfast {

class Route {
 public:
  Route();
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  ~Route();

  [[nodiscard]] static bool has_ipv6();

  void bring_up(unsigned interface, const Mac& mac, unsigned queue);
  void add_address(unsigned interface, const std::string& address);  // IPv4 in a /24, IPv6 in a /64
  void add_neighbour(unsigned interface, const std::string& address, const Mac& mac);
  [[nodiscard]] std::uint64_t sending_dropped(unsigned interface);  // frames that found the device's queue full

 private:
  // Sends, waits for the kernel's verdict, throws an Error that begins with `action` when it is not a good one.
  std::vector<std::uint8_t> ask(std::vector<std::uint8_t> message, const std::string& action);

  int socket_ = -1;
  std::uint32_t number_ = 0;
};

}  // namespace holdfast
