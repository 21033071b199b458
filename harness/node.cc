#include "harness/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "harness/error.h"

namespace holdfast {

std::string to_string(const ExitStatus& status) {
  if (status.signal == 0) return fmt::format("exit {}", status.code);
  return fmt::format("signal {} ({})", status.signal, ::strsignal(status.signal));
}

CommandResult Node::must_run(const Command& command, std::chrono::milliseconds limit) {
  CommandResult result = run(command, limit);
  if (result.ok()) return result;
  const std::string what = fmt::format("{}: {}", name(), fmt::join(command.argv, " "));
  if (result.timed_out) throw Error(fmt::format("{}: no answer within {} ms", what, limit.count()));
  std::string said = result.errors.empty() ? result.output : result.errors;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  std::replace(said.begin(), said.end(), '\n', ' ');
  throw Error(fmt::format("{}: exit {}: {}", what, result.exit_status, said));
}

NodeDisk& Node::disk() {
  throw Error(fmt::format("{}: faults of a disk are made on local nodes only: leave --nodes out", name()));
}

std::vector<Node*> Cluster::all() const {
  std::vector<Node*> nodes(servers().begin(), servers().end());
  const auto add = [&nodes](Node* node) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  };
  add(&resource());
  for (Node* node : clients()) add(node);
  return nodes;
}

}  // namespace holdfast
