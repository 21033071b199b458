#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <functional>

#include "cli/commands.h"
#include "cli/session.h"
#include "clusters/local/cluster.h"
#include "clusters/local/world.h"
#include "harness/error.h"

namespace holdfast {

namespace {

// Each probe does the real thing, in the order in which a run would.
struct Finding {
  bool good = false;
  std::string said;
};

Finding try_out(const std::function<std::string()>& probe) {
  try {
    return {true, probe()};
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

bool show(const char* what, const Finding& finding) {
  fmt::print("  {:<9} {:<22} {}\n", finding.good ? "ok" : "MISSING", what, finding.said);
  return finding.good;
}

std::string find_program(const char* program, const char* package) {
  for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"}) {
    const std::string file = std::string(folder) + program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  throw Error(fmt::format("apt-get install {}", package));
}

struct Program {
  const char* name;
  const char* package;
  const char* purpose;
  bool needed;
};

constexpr std::array kPrograms = {
    Program{"ip", "iproute2", "ip", true},
    Program{"redis-server", "redis-server", "redis-server", true},
    Program{"redis-cli", "redis-tools", "redis-cli", true},
    Program{"sshd", "openssh-server", "sshd (holdfast lab)", false},
    Program{"chromium", "chromium", "chromium (page tests)", false},
};

int examine() {
  fmt::print("This machine, as {}:\n", ::geteuid() == 0 ? "root" : "an unprivileged user");
  bool usable = true;
  for (const Program& program : kPrograms) {
    const Finding finding = try_out([&] { return find_program(program.name, program.package); });
    usable = (show(program.purpose, finding) || !program.needed) && usable;
  }
  const std::string obstacle = private_world_obstacle();
  usable = show("namespaces", {obstacle.empty(), obstacle.empty() ? "network, mount, PID, UTS and IPC" : obstacle}) &&
           usable;
  if (obstacle.empty()) {
    const Finding nodes = try_out([] {
      LocalCluster cluster({.servers = 1, .clients = 1, .program_folder = our_program_folder()});
      cluster.servers()[0]->must_run({{"true"}, {}}, std::chrono::seconds(5));
      return std::string("made and removed three nodes");
    });
    usable = show("local nodes", nodes) && usable;
    const Finding cuts = try_out([] {
      LocalCluster cluster({.servers = 1, .clients = 1, .program_folder = our_program_folder()});
      cluster.network().cut(std::vector<CutLink>{{"n1", "c1"}});
      cluster.network().cut({});
      return std::string("cut and healed a link between two nodes");
    });
    usable = show("partitions", cuts) && usable;
  }
  fmt::print("{}\n", usable
                         ? "Everything that a local run needs is here."
                         : "A local run is not possible before that is mended; --nodes uses hosts over SSH instead.");
  return usable ? 0 : 2;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  CLI::App* const sub = app.add_subcommand("doctor", "Say what this machine can and cannot do, with the fix");
  sub->callback([&exit_code] { exit_code = examine(); });
}

}  // namespace holdfast
