#include "clusters/local/switch/frame.h"

#include <algorithm>
#include <cstring>

namespace holdfast {

namespace {

constexpr std::uint16_t kIPv4 = 0x0800;
constexpr std::uint16_t kIPv6 = 0x86DD;
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kIgmp = 2;
constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;
constexpr std::uint8_t kIcmp6 = 58;
constexpr std::size_t kIPv4Header = 20;
constexpr std::size_t kIPv6Header = 40;
constexpr std::size_t kTcpHeader = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kRst = 0x04;

std::uint16_t read16(FrameBytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>((bytes[at] << 8U) | bytes[at + 1]);
}

void write16(std::span<std::uint8_t> bytes, std::size_t at, std::uint32_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8U);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

std::uint32_t sum_of(FrameBytes bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read16(bytes, i);
  if (bytes.size() % 2 != 0) sum += static_cast<std::uint32_t>(bytes.back()) << 8U;
  return sum;
}

std::uint16_t folded(std::uint32_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

std::size_t checksum_at(const Transport& transport) {
  return transport.header + (transport.tcp ? 16 : 6);
}

FrameBytes addresses_of(FrameBytes frame, const Transport& transport) {
  return transport.v6 ? frame.subspan(transport.network + 8, 32) : frame.subspan(transport.network + 12, 8);
}

std::optional<Transport> find_header(FrameBytes frame) {
  Transport transport;
  std::uint8_t protocol = 0;
  const std::uint16_t type = read16(frame, 12);
  if (type == kIPv4 && frame.size() >= kEthernetHeader + kIPv4Header) {
    const bool fragment = (read16(frame, kEthernetHeader + 6) & 0x3FFFU) != 0;
    if (fragment) return std::nullopt;
    protocol = frame[kEthernetHeader + 9];
    transport.header = kEthernetHeader + std::size_t{4} * (frame[kEthernetHeader] & 0x0FU);
    transport.end = kEthernetHeader + read16(frame, kEthernetHeader + 2);
  } else if (type == kIPv6 && frame.size() >= kEthernetHeader + kIPv6Header) {
    transport.v6 = true;
    protocol = frame[kEthernetHeader + 6];
    transport.header = kEthernetHeader + kIPv6Header;
    transport.end = transport.header + read16(frame, kEthernetHeader + 4);
  } else {
    return std::nullopt;
  }
  transport.tcp = protocol == kTcp;
  if ((protocol != kTcp && protocol != kUdp) || transport.end > frame.size()) return std::nullopt;
  return transport;
}

}  // namespace

Mac destination_of(FrameBytes frame) {
  Mac mac{};
  std::copy_n(frame.begin(), mac.size(), mac.begin());
  return mac;
}

bool is_group_membership(FrameBytes frame) {
  const std::uint16_t type = read16(frame, 12);
  if (type == kIPv4) return frame.size() > kEthernetHeader + 9 && frame[kEthernetHeader + 9] == kIgmp;
  if (type != kIPv6 || frame.size() <= kEthernetHeader + kIPv6Header + 8) return false;
  const std::size_t options = kEthernetHeader + kIPv6Header;
  if (frame[kEthernetHeader + 6] != kHopByHop || frame[options] != kIcmp6) return false;
  const std::uint8_t message = frame[options + 8];
  return (message >= 130 && message <= 132) || message == 143;
}

bool is_discovery(FrameBytes frame) {
  constexpr std::uint8_t kFirst = 133;  // router solicitation
  constexpr std::uint8_t kLast = 137;   // redirect
  const std::size_t message = kEthernetHeader + kIPv6Header;
  return read16(frame, 12) == kIPv6 && frame.size() > message && frame[kEthernetHeader + 6] == kIcmp6 &&
         frame[message] >= kFirst && frame[message] <= kLast;
}

std::optional<Transport> transport_of(FrameBytes frame) {
  std::optional<Transport> transport = find_header(frame);
  if (!transport || transport->header + (transport->tcp ? kTcpHeader : kUdpHeader) > transport->end) {
    return std::nullopt;
  }
  transport->payload =
      transport->header + (transport->tcp ? std::size_t{4} * (frame[transport->header + 12] >> 4U) : kUdpHeader);
  if (transport->payload > transport->end) return std::nullopt;
  return transport;
}

bool corrupt(std::span<std::uint8_t> frame, std::uint64_t noise, bool unseen) {
  const std::optional<Transport> transport = transport_of(frame);
  if (!transport) return false;
  const std::size_t from = unseen ? transport->payload : transport->header;
  if (from == transport->end) return false;
  const std::size_t at = from + noise % (transport->end - from);
  const std::size_t word = at - (at - transport->header) % 2;
  // The last byte may stand alone; it then counts as the upper half of a word.
  const auto word_value = [&] {
    return static_cast<std::uint16_t>(word + 1 < transport->end ? read16(frame, word) : frame[word] << 8U);
  };
  const std::uint16_t before = word_value();
  frame[at] = static_cast<std::uint8_t>(frame[at] ^ (1U << ((noise >> 32U) % 8)));
  const std::size_t sum_at = checksum_at(*transport);
  const std::uint16_t sum = read16(frame, sum_at);
  const bool unchecked = !transport->tcp && sum == 0;  // UDP over IPv4 may do without
  if (!unseen || unchecked) return true;
  std::uint16_t fixed = static_cast<std::uint16_t>(
      ~folded(std::uint32_t{static_cast<std::uint16_t>(~sum)} + static_cast<std::uint16_t>(~before) + word_value()));
  if (!transport->tcp && fixed == 0) fixed = 0xFFFF;
  write16(frame, sum_at, fixed);
  return true;
}

TcpFlags tcp_flags(FrameBytes frame, const Transport& transport) {
  const std::uint8_t flags = frame[transport.header + 13];
  return {.syn = (flags & kSyn) != 0, .rst = (flags & kRst) != 0};
}

std::uint64_t connection_of(FrameBytes frame, const Transport& transport) {
  const FrameBytes addresses = addresses_of(frame, transport);
  const auto hash_end = [](FrameBytes address, std::uint16_t port) {
    std::uint64_t hash = 0xCBF29CE484222325U ^ port;
    for (const std::uint8_t byte : address) hash = (hash ^ byte) * 0x100000001B3U;
    return hash * 0x9E3779B97F4A7C15U;
  };
  const std::size_t half = addresses.size() / 2;
  return hash_end(addresses.first(half), read16(frame, transport.header)) +
         hash_end(addresses.last(half), read16(frame, transport.header + 2));
}

std::vector<std::uint8_t> make_reset(FrameBytes frame, const Transport& transport, ResetFor whom) {
  // The headers of the frame itself, without options and data; then what differs.
  const std::size_t network_size = transport.v6 ? kIPv6Header : kIPv4Header;
  const std::size_t header = kEthernetHeader + network_size;
  std::vector<std::uint8_t> reset(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(header));
  reset.insert(reset.end(), frame.begin() + static_cast<std::ptrdiff_t>(transport.header),
               frame.begin() + static_cast<std::ptrdiff_t>(transport.header + kTcpHeader));
  const auto part = [&](std::size_t at) { return reset.begin() + static_cast<std::ptrdiff_t>(at); };
  std::fill_n(part(header + 8), 4, std::uint8_t{0});  // no acknowledgement
  if (whom == ResetFor::sender) {
    const std::size_t half = transport.v6 ? 16 : 4;
    const std::size_t addresses = transport.v6 ? kEthernetHeader + 8 : kEthernetHeader + 12;
    std::swap_ranges(part(0), part(6), part(6));
    std::swap_ranges(part(addresses), part(addresses + half), part(addresses + half));
    std::swap_ranges(part(header), part(header + 2), part(header + 2));
    // What the sender expects next is what it has acknowledged.
    const FrameBytes acknowledged = frame.subspan(transport.header + 8, 4);
    std::copy(acknowledged.begin(), acknowledged.end(), part(header + 4));
  }
  reset[header + 12] = 5U << 4U;
  reset[header + 13] = kRst;
  std::fill_n(part(header + 14), 6, std::uint8_t{0});  // window, checksum, urgent pointer
  if (transport.v6) {
    write16(reset, kEthernetHeader + 4, kTcpHeader);
  } else {
    reset[kEthernetHeader] = 0x45;
    write16(reset, kEthernetHeader + 2, kIPv4Header + kTcpHeader);
    write16(reset, kEthernetHeader + 10, 0);
    write16(reset, kEthernetHeader + 10,
            static_cast<std::uint16_t>(~folded(sum_of(FrameBytes(reset).subspan(kEthernetHeader, kIPv4Header)))));
  }
  const std::uint32_t pseudo = sum_of(addresses_of(reset, transport)) + kTcp + kTcpHeader;
  write16(reset, header + 16, static_cast<std::uint16_t>(~folded(pseudo + sum_of(FrameBytes(reset).subspan(header)))));
  return reset;
}

}  // namespace holdfast
