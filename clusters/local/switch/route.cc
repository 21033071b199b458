#include "clusters/local/switch/route.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/error.h"

namespace holdfast {

namespace {

// A netlink message in the making. Everything in it is aligned to four bytes, as the kernel wants it.
class Message {
 public:
  template <typename Body>
  Message(std::uint16_t type, std::uint16_t flags, const Body& body) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    append(&header, sizeof header);
    append(&body, sizeof body);
  }
  void attribute(std::uint16_t type, const void* value, std::size_t size) {
    const rtattr header{static_cast<std::uint16_t>(RTA_LENGTH(size)), type};
    append(&header, sizeof header);
    append(value, size);
  }
  template <typename Fill>
  void nested(std::uint16_t type, const Fill& fill) {
    const std::size_t at = bytes_.size();
    attribute(type, nullptr, 0);
    fill();
    const auto size = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(&bytes_[at], &size, sizeof size);
  }
  std::vector<std::uint8_t> finish() && {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);
    return std::move(bytes_);
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* const begin = static_cast<const std::uint8_t*>(data);
    if (size > 0) bytes_.insert(bytes_.end(), begin, begin + size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
  }
  std::vector<std::uint8_t> bytes_;
};

struct Numeric {
  std::uint8_t family = AF_INET;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 4;
};

Numeric numeric(const std::string& address) {
  Numeric result;
  if (address.find(':') != std::string::npos) {
    result.family = AF_INET6;
    result.size = 16;
  }
  HOLDFAST_CHECK(::inet_pton(result.family, address.c_str(), result.bytes.data()) == 1, "addresses are made by us");
  return result;
}

}  // namespace

Route::Route() : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (socket_ < 0) throw system_error("cannot talk to the kernel about interfaces");
}

Route::~Route() {
  ::close(socket_);
}

bool Route::has_ipv6() {
  const int probe = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe >= 0) ::close(probe);
  return probe >= 0;
}

std::vector<std::uint8_t> Route::ask(std::vector<std::uint8_t> message, const std::string& action) {
  nlmsghdr header{};
  std::memcpy(&header, message.data(), sizeof header);
  header.nlmsg_seq = ++number_;
  std::memcpy(message.data(), &header, sizeof header);
  if (::send(socket_, message.data(), message.size(), 0) < 0) throw system_error(action);
  std::vector<std::uint8_t> answer(std::size_t{32} << 10U);
  const ssize_t size = ::recv(socket_, answer.data(), answer.size(), 0);
  if (size < static_cast<ssize_t>(sizeof header)) throw system_error(action);
  answer.resize(static_cast<std::size_t>(size));
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error.error);
    errno = -error.error;
    if (error.error != 0) throw system_error(action);
  }
  return answer;
}

void Route::bring_up(unsigned interface, const Mac& mac, unsigned queue) {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(interface);
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Message message(RTM_NEWLINK, NLM_F_ACK, body);
  message.attribute(IFLA_ADDRESS, mac.data(), mac.size());
  message.attribute(IFLA_TXQLEN, &queue, sizeof queue);
  if (has_ipv6()) {
    // No address of the kernel's own choice: it would announce it to everybody.
    const std::uint8_t none = IN6_ADDR_GEN_MODE_NONE;
    message.nested(IFLA_AF_SPEC, [&] {
      message.nested(AF_INET6, [&] { message.attribute(IFLA_INET6_ADDR_GEN_MODE, &none, sizeof none); });
    });
  }
  ask(std::move(message).finish(), "bring a node's interface up");
}

void Route::add_address(unsigned interface, const std::string& address) {
  const Numeric number = numeric(address);
  ifaddrmsg body{};
  body.ifa_family = number.family;
  body.ifa_prefixlen = number.family == AF_INET ? 24 : 64;
  body.ifa_flags = number.family == AF_INET ? 0 : IFA_F_NODAD;  // nobody else can have it: no need to ask around
  body.ifa_index = interface;
  Message message(RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE, body);
  message.attribute(IFA_LOCAL, number.bytes.data(), number.size);
  message.attribute(IFA_ADDRESS, number.bytes.data(), number.size);
  ask(std::move(message).finish(), fmt::format("give a node the address {}", address));
}

void Route::add_neighbour(unsigned interface, const std::string& address, const Mac& mac) {
  const Numeric number = numeric(address);
  ndmsg body{};
  body.ndm_family = number.family;
  body.ndm_ifindex = static_cast<int>(interface);
  body.ndm_state = NUD_PERMANENT;
  Message message(RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, body);
  message.attribute(NDA_DST, number.bytes.data(), number.size);
  message.attribute(NDA_LLADDR, mac.data(), mac.size());
  ask(std::move(message).finish(), fmt::format("tell a node where {} is", address));
}

std::uint64_t Route::sending_dropped(unsigned interface) {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(interface);
  const std::vector<std::uint8_t> answer =
      ask(Message(RTM_GETLINK, 0, body).finish(), "count what a node's interface dropped");
  for (std::size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof body); at + sizeof(rtattr) <= answer.size();) {
    rtattr attribute{};
    std::memcpy(&attribute, &answer[at], sizeof attribute);
    if (attribute.rta_len < sizeof attribute) break;
    if (attribute.rta_type == IFLA_STATS64 && at + RTA_LENGTH(0) + sizeof(rtnl_link_stats64) <= answer.size()) {
      rtnl_link_stats64 statistics{};
      std::memcpy(&statistics, &answer[at + RTA_LENGTH(0)], sizeof statistics);
      return statistics.tx_dropped;
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  throw Error("the kernel does not say how many frames a node's interface dropped");
}

}  // namespace holdfast
