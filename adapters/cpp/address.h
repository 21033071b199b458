// Address: "10.99.0.1:6379" or "[fd00::1]:6379" as a socket wants it. Numeric only: a lookup may hang for seconds, and
// nodes have no resolver.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string host;
  int port = 0;
};

// Throws std::invalid_argument: "\"foo\" is not an address; write it as IP:PORT".
Address parse_address(std::string_view text);

// A connected, non-blocking socket with TCP_NODELAY. Throws std::system_error with the cause.
int connect_to(const Address& address, std::chrono::milliseconds limit);

// Waits for poll(2) events; false: the time is over. After a SIGSTOP that outlasted the limit it still looks once, so
// that an answer which came in meanwhile is not thrown away.
bool wait_for(int descriptor, short events, std::chrono::steady_clock::time_point deadline);

}  // namespace holdfast
