#include "harness/guarded_resource.h"

#include <fmt/format.h>
#include <poll.h>

#include "harness/error.h"
#include "harness/protocol.h"

namespace holdfast {

namespace {

constexpr int kPort = 7700;
constexpr int kStartLimitMs = 10'000;

}  // namespace

GuardedResource::GuardedResource(Node& node)
    : address_(fmt::format("{}:{}", node.address(), kPort)),
      process_(node.spawn({{node.program_folder() + "/holdfast-resource", "--listen", address_}, {}},
                          node.data_folder() + "/resource.log")) {
  LineReader reader;
  pollfd watched{process_->output(), POLLIN, 0};
  while (true) {
    if (::poll(&watched, 1, kStartLimitMs) <= 0) {
      throw Error(fmt::format("{}: the guarded resource does not start within 10 s", node.name()));
    }
    const LineReader::Status status = reader.fill(process_->output());
    if (reader.next_line() == "ready") return;
    if (status != LineReader::Status::open) {
      throw Error(fmt::format("{}: the guarded resource does not start on {}; see resource.log of that node",
                              node.name(), address_));
    }
  }
}

}  // namespace holdfast
