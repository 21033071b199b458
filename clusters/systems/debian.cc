#include "clusters/systems/debian.h"

#include <fmt/format.h>

#include "harness/error.h"

namespace holdfast {

namespace {

// policy-rc.d is Debian's own switch for "install, but start nothing"; one that is there already is left alone.
constexpr const char* kInstall = R"(
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod +x $policy
  trap 'rm -f $policy' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends "$1" || { apt-get update && apt-get install -y --no-install-recommends "$1"; }
)";

bool has_program(Node& node, const std::string& program) {
  return node.run({{"sh", "-c", "command -v -- \"$1\"", "sh", program}, {}}, std::chrono::seconds(10)).ok();
}

}  // namespace

void need_program(Node& node, const std::string& program, const std::string& package) {
  if (has_program(node, program)) return;
  // A local node sees this machine's programs read-only, so there this fails at once, and the message says what to do.
  const CommandResult result =
      node.run({{"sh", "-c", "test -w /usr/bin && " + std::string("sh -c \"$0\" sh \"$1\""), kInstall, package}, {}},
               std::chrono::minutes(5));
  if (result.ok() && has_program(node, program)) return;
  throw Error(fmt::format("{}: the program {} is missing and cannot be installed from here: apt-get install {}",
                          node.name(), program, package));
}

}  // namespace holdfast
