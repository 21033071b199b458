#include "clusters/local/packet.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::size_t kDescriptorLimit = 4;
constexpr std::size_t kMessageLimit = std::size_t{128} << 10U;

}  // namespace

bool send_packet(int socket, const nlohmann::json& message, std::span<const int> descriptors) {
  HOLDFAST_CHECK(descriptors.size() <= kDescriptorLimit, "no message carries so many descriptors");
  std::string text = message.dump();
  if (text.size() > kMessageLimit) throw Error("command is too long for a node: over 128 KiB");
  iovec part{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorLimit * sizeof(int))> control{};
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t count = 0;
  do {
    count = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count >= 0;
}

std::optional<Packet> receive_packet(int socket, bool wait) {
  std::string text(kMessageLimit, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorLimit * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  Packet packet;
  for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr; rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    packet.descriptors.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(packet.descriptors.data(), CMSG_DATA(rights), packet.descriptors.size() * sizeof(int));
  }
  text.resize(static_cast<std::size_t>(count));
  packet.message = nlohmann::json::parse(text);
  return packet;
}

}  // namespace holdfast
