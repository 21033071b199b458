// holdfast-resource --listen IP:PORT: the guarded resource as a server of its own, on a node of its own.
//
// One thread serves all connections, so reads and writes happen one after the other and the register is linearizable
// by construction: whatever is lost there, the lock lost.
#include <sys/epoll.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "adapters/cpp/address.h"
#include "adapters/cpp/lines.h"
#include "adapters/resource/registers.h"

namespace {

using holdfast::LineBuffer;

constexpr int kBadArguments = 254;

[[noreturn]] void give_up(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int listen_on(const std::string& text) {
  const auto address = holdfast::parse_address(text);
  const int listener = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) give_up("socket");
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // a restart must not wait for TIME_WAIT
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) give_up("bind " + text);
  if (listen(listener, SOMAXCONN) != 0) give_up("listen on " + text);
  return listener;
}

class ResourceServer {
 public:
  explicit ResourceServer(int listener) : listener_(listener), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) give_up("epoll_create1");
    watch(listener_);
  }

  [[noreturn]] void serve() {
    std::array<epoll_event, 64> events{};
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      if (count < 0 && errno != EINTR) give_up("epoll_wait");
      for (int i = 0; i < count; ++i) {
        const int descriptor = events.at(static_cast<std::size_t>(i)).data.fd;
        if (descriptor == listener_) {
          accept_all();
        } else if (!serve_connection(descriptor)) {
          close(descriptor);
          connections_.erase(descriptor);
        }
      }
    }
  }

 private:
  void watch(int descriptor) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) give_up("epoll_ctl");
  }

  void accept_all() {
    while (true) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) return;
      const int yes = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_.try_emplace(descriptor);
      watch(descriptor);
    }
  }

  // False: the connection is over.
  bool serve_connection(int descriptor) {
    LineBuffer& lines = connections_.at(descriptor);
    const std::ptrdiff_t count = lines.fill(descriptor);
    if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
    std::string answers;
    try {
      while (const auto line = lines.next()) answers.append(registers_.serve(*line)).push_back('\n');
    } catch (const holdfast::MalformedLine& error) {
      std::fprintf(stderr, "closing a connection: cannot read a request: %s\n", error.what());
      return false;
    }
    // Clients have one request open at a time, so an answer always fits the socket's buffer; a peer that sends without
    // reading is broken, and must not make the others wait.
    return holdfast::write_all(descriptor, answers, std::chrono::steady_clock::now());
  }

  int listener_;
  int epoll_;
  std::map<int, LineBuffer> connections_;
  holdfast::Registers registers_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--listen") {
    std::fputs("usage: holdfast-resource --listen IP:PORT\n", stderr);
    return kBadArguments;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    ResourceServer server(listen_on(argv[2]));
    std::puts("ready");
    std::fflush(stdout);
    server.serve();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "--listen: %s\n", error.what());
    return kBadArguments;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "holdfast-resource: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
