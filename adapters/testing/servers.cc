#include "adapters/testing/servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

namespace holdfast {
namespace {

constexpr std::chrono::seconds kLimit{10};

Child::Deadline soon() {
  return std::chrono::steady_clock::now() + kLimit;
}

// A port that was free a moment ago may be taken by now, so a start is tried more than once.
template <typename Start>
std::unique_ptr<Child> start_on_free_port(std::string& address, std::string_view ready, const Start& start) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    address = free_address();
    auto child = std::make_unique<Child>(start(address));
    while (true) {
      const auto line = child->receive(soon());
      if (line.status != Child::Status::line) break;
      if (line.text.find(ready) != std::string::npos) return child;
    }
  }
  throw std::runtime_error("a server for the test does not start");
}

}  // namespace

std::string program(const std::string& name) {
  return std::string(HOLDFAST_PROGRAM_FOLDER) + "/" + name;
}

Finished run_program(const std::vector<std::string>& argv) {
  std::vector<std::string> command = {"sh", "-c", "exec \"$@\" 2>&1", "sh"};
  command.insert(command.end(), argv.begin(), argv.end());
  Child child(command);
  child.close_input();
  const auto deadline = std::chrono::steady_clock::now() + 6 * kLimit;
  Finished finished;
  while (true) {
    const auto line = child.receive(deadline);
    finished.output += line.text;
    if (line.status != Child::Status::line) break;
    finished.output += '\n';
  }
  const auto status = child.wait(deadline);
  if (!status) throw std::runtime_error(argv.front() + " does not end");
  finished.status = *status;
  return finished;
}

bool eventually(const std::function<bool()>& condition) {
  for (const auto deadline = soon(); std::chrono::steady_clock::now() < deadline; std::this_thread::yield())
    if (condition()) return true;
  return false;
}

std::string free_address() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw std::runtime_error("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port on 127.0.0.1");
  close(descriptor);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

RedisServer::RedisServer() {
  child_ = start_on_free_port(address_, "Ready to accept connections", [](const std::string& address) {
    const std::string port = address.substr(address.find(':') + 1);
    return std::vector<std::string>{"redis-server", "--bind", "127.0.0.1",    "--port", port, "--save", "",
                                    "--dir",        "/",      "--appendonly", "no"};
  });
  connection_.configure(address_, kLimit);
}

void RedisServer::signal(int number) const {
  kill(child_->pid(), number);
}
void RedisServer::end() {
  child_.reset();
}

ResourceServer::ResourceServer() {
  child_ = start_on_free_port(address_, "ready", [](const std::string& address) {
    return std::vector<std::string>{program("holdfast-resource"), "--listen", address};
  });
}

void ResourceServer::end() {
  child_.reset();
}

}  // namespace holdfast
