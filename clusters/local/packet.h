// One JSON message with file descriptors over a SEQPACKET socket, between the controller and a node's init.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

namespace holdfast {

struct Packet {
  nlohmann::json message;
  std::vector<int> descriptors;  // received ones belong to the receiver
};

// False: the other end is gone.
bool send_packet(int socket, const nlohmann::json& message, std::span<const int> descriptors = {});

// Empty: the other end is gone, or (when `wait` is false) nothing is there.
std::optional<Packet> receive_packet(int socket, bool wait);

}  // namespace holdfast
