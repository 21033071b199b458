// What the switch has to know of an Ethernet frame: whom it is for, where its TCP or UDP part lies, and how to change
// it so that the receiver does, or does not, notice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace holdfast {

using FrameBytes = std::span<const std::uint8_t>;
using Mac = std::array<std::uint8_t, 6>;

constexpr std::size_t kEthernetHeader = 14;

[[nodiscard]] Mac destination_of(FrameBytes frame);
[[nodiscard]] constexpr bool is_group(const Mac& mac) {
  return (mac[0] & 1U) != 0;
}

// Hosts tell routers and switches which groups they listen to (IGMP, MLD). This switch sends to all; it needs no
// telling.
[[nodiscard]] bool is_group_membership(FrameBytes frame);
// IPv6 hosts ask for routers and neighbours. There are no routers here, and all neighbours are known.
[[nodiscard]] bool is_discovery(FrameBytes frame);

// Offsets in the frame of an unfragmented TCP segment or UDP datagram over IPv4 or IPv6.
struct Transport {
  bool v6 = false;
  bool tcp = false;
  std::size_t network = kEthernetHeader;
  std::size_t header = 0;
  std::size_t payload = 0;
  std::size_t end = 0;
};
[[nodiscard]] std::optional<Transport> transport_of(FrameBytes frame);

// Changes one byte that `noise` picks. Detected: anywhere in the TCP or UDP part, whose checksum is wrong from then on.
// `unseen`: a byte of the payload, and the checksum is made right. False: there is nothing that could be changed.
bool corrupt(std::span<std::uint8_t> frame, std::uint64_t noise, bool unseen);

struct TcpFlags {
  bool syn = false;
  bool rst = false;
};
[[nodiscard]] TcpFlags tcp_flags(FrameBytes frame, const Transport& transport);

// The same number for both directions of a connection.
[[nodiscard]] std::uint64_t connection_of(FrameBytes frame, const Transport& transport);

// A segment that ends the connection which `frame` (a TCP segment) belongs to: for the one it is going to, or back to
// the one that sent it.
enum class ResetFor : std::uint8_t { receiver, sender };
[[nodiscard]] std::vector<std::uint8_t> make_reset(FrameBytes frame, const Transport& transport, ResetFor whom);

}  // namespace holdfast
