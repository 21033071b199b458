// A TCP connection with a deadline for all of it, the name's resolution included.
//
// libssh could connect by itself, but tries one address only and waits for the resolver as long as that likes.
#pragma once

#include <chrono>
#include <string>

namespace holdfast {

struct TcpConnection {
  int descriptor = -1;  // non-blocking, without delay, with keepalive; the caller owns it
  std::string address;  // the numeric address that answered
};

// Throws Error: "connect to n1 port 22: Connection refused".
TcpConnection connect_tcp(const std::string& host, unsigned port, std::chrono::steady_clock::time_point deadline);

}  // namespace holdfast
