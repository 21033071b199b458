#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/session.h"
#include "harness/error.h"
#include "results/card.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

struct Check {
  std::string subject = "latest";
  std::string workload = "lock";
  std::string store = "store";
};

// A history with no run around it: what another tool recorded, or what somebody mailed.
int check_file(const Check& command) {
  const RunResults results = check_history(command.subject, command.workload);
  RunInfo info;
  info.name = fs::path(command.subject).filename();
  info.system = "(a history from elsewhere)";
  info.workload = command.workload;
  info.argv = {"check", command.subject, "--workload", command.workload};
  fmt::print("{}", run_card(info, results, {}, card_style_for(STDOUT_FILENO)));
  return exit_code_of(results.validity);
}

int check(const Check& command) {
  const fs::path subject = command.subject;
  if (fs::is_regular_file(subject) && !fs::exists(subject.parent_path() / "test.json")) return check_file(command);
  const RunOutcome outcome = check_run(resolve_run(command.store, command.subject));
  fmt::print("{}", run_card(outcome.info, outcome.results, outcome.folder, card_style_for(STDOUT_FILENO)));
  if (outcome.results.stats.truncated) {
    fmt::print("The last line of the history was cut short (the controller was killed) and is left out.\n");
  }
  if (const std::string sentence = expectation(outcome.results); !sentence.empty()) fmt::print("{}\n", sentence);
  return outcome.exit_code();
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Check>();
  CLI::App* const sub =
      app.add_subcommand("check", "Judge a recorded history again; writes results.json and report.html");
  sub->add_option("subject", command->subject, "A run (latest, its folder, its name) or a history.jsonl file")
      ->capture_default_str();
  sub->add_option("-w,--workload,--model", command->workload, "For a file: what the clients were doing")
      ->capture_default_str();
  sub->add_option("--store", command->store, "Folder of runs")->capture_default_str();
  sub->callback([command, &exit_code] { exit_code = check(*command); });
}

}  // namespace holdfast
