#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "harness/error.h"
#include "results/card.h"
#include "results/report.h"

namespace holdfast {

namespace {

// Every kind of fault against every kind of target, and a run without any: what breaks there is not the faults' doing.
const std::vector<std::string> kAllFaults = {"none", "pause", "kill", "partition", "pause:server", "kill:server"};

std::string column(const std::string& fault) {
  return fault.substr(0, fault.find('@'));
}

int audit_system(RunOptions options) {
  const std::vector<std::string> cells = options.faults.empty() ? kAllFaults : options.faults;
  options.faults.clear();
  RunRequest common = options.request();
  Audit audit{.system = std::string(common.system->name),
              .workload = common.workload,
              .seed = common.seed,
              .argv = {},
              .runs = {}};
  audit.argv = options.repeating_arguments();
  audit.argv.front() = "audit";
  RunInfo info;
  info.name = "audit-" + audit.system;
  info.system = audit.system;
  info.workload = audit.workload;
  info.argv = audit.argv;
  info.seed = audit.seed;
  RunFolder folder = RunFolder::create(common.store, info);
  for (const std::string& cell : cells) {
    RunRequest request = common;
    options.faults = {cell};
    request.faults = parse_fault_plans(options.faults, *request.system);
    request.name = fmt::format("{}-{}-{}", request.system->name, request.workload, column(cell));
    std::replace(request.name.begin(), request.name.end(), ':', '-');
    request.argv = options.repeating_arguments();
    fmt::print(stderr, "{} under {} …\n", audit.system, cell == "none" ? "no fault" : cell);
    RunOutcome outcome = execute(request);
    if (!outcome.crashed.empty()) fmt::print(stderr, "holdfast: {}\n", outcome.crashed);
    audit.runs.push_back({column(cell), outcome.folder, outcome.info, outcome.results, outcome.crashed});
    if (was_interrupted()) break;
  }
  folder.write("audit.json", audit_to_json_text(audit, folder.path()));
  folder.write("audit.html", audit_html(audit, folder.path()));
  folder.history_closed();
  write_index(common.store);
  fmt::print("{}", audit_card(audit, folder.path() / "audit.html", card_style_for(STDOUT_FILENO)));
  std::fflush(stdout);
  return exit_code(audit);
}

}  // namespace

void add_audit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* const audit = app.add_subcommand("audit", "Run a system under every fault and show its report card");
  options->add_to(*audit);
  audit->add_option("--faults,--nemesis", options->faults, "Only these columns of the card (default: all faults)")
      ->delimiter(',');
  audit->footer("\nExample:\n  holdfast audit redis-setpx-lua --seed 7");
  audit->callback([options, &exit_code] { exit_code = audit_system(*options); });
}

}  // namespace holdfast
