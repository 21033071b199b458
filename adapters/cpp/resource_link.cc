#include "adapters/cpp/resource_link.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "adapters/cpp/address.h"

namespace holdfast {

void ResourceLink::configure(std::string address, std::chrono::milliseconds limit) {
  disconnect();
  address_ = std::move(address);
  limit_ = limit;
}

void ResourceLink::disconnect() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  incoming_ = {};
}

ResourceLink::Exchange ResourceLink::exchange(std::string_view line) {
  if (address_.empty()) return {.line = {}, .sent = false, .error = "resource: open named no address"};
  if (descriptor_ < 0) {
    try {
      descriptor_ = connect_to(parse_address(address_), limit_);
    } catch (const std::exception& error) {
      return {.line = {}, .sent = false, .error = "resource: " + address_ + ": " + error.what()};
    }
  }
  const auto give_up = [this](const char* why) {
    disconnect();
    return Exchange{.line = {}, .sent = true, .error = std::string("resource: ") + why};
  };

  const auto deadline = std::chrono::steady_clock::now() + limit_;
  outgoing_.assign(line);
  outgoing_ += '\n';
  if (!write_all(descriptor_, outgoing_, deadline))
    return give_up(errno == ETIMEDOUT ? "timed out" : "connection lost");
  while (true) {
    if (const auto answer = incoming_.next()) return {.line = *answer, .sent = true, .error = {}};
    if (!wait_for(descriptor_, POLLIN, deadline)) return give_up("timed out");
    const std::ptrdiff_t count = incoming_.fill(descriptor_);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return give_up("connection lost");
  }
}

}  // namespace holdfast
