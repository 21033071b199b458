#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "clusters/ssh/cluster.h"

namespace holdfast {

namespace {

struct Clean {
  std::vector<std::string> nodes;
  std::string ssh_config;
  bool all = false;
};

int clean(const Clean& command) {
  // Local nodes live and die with their controller: namespaces, rules and files are the kernel's to remove.
  if (command.nodes.empty()) {
    fmt::print(
        "Local nodes leave nothing behind: they end with the controller, however it ends. Give --nodes to clean "
        "hosts.\n");
    return 0;
  }
  const std::vector<std::string> removed = clean_ssh_nodes({.nodes = command.nodes, .ssh_config = command.ssh_config},
                                                           command.all ? SshLeftovers::all : SshLeftovers::stale);
  for (const std::string& line : removed) fmt::print("{}\n", line);
  if (removed.empty()) fmt::print("Nothing was left on {} host(s).\n", command.nodes.size());
  return 0;
}

}  // namespace

void add_clean(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Clean>();
  CLI::App* const sub = app.add_subcommand("clean", "Remove what dead runs left on hosts (processes, folders, rules)");
  sub->add_option("--nodes", command->nodes, "Hosts: a,b,c")->delimiter(',');
  sub->add_option("--ssh-config", command->ssh_config, "An OpenSSH configuration instead of ~/.ssh/config");
  sub->add_flag("--all", command->all, "Also what belongs to a run that may still be going on");
  sub->callback([command, &exit_code] { exit_code = clean(*command); });
}

}  // namespace holdfast
