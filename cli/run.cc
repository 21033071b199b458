#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "harness/error.h"
#include "results/card.h"

namespace holdfast {

namespace {

constexpr const char* kHelp =
    "\nA fault is FAULT[:TARGET][@TRIGGER]; what you leave out has a default:\n"
    "  pause                        pause:holder@reading: stop the holder inside its critical section, past its lease\n"
    "  pause:server                 stop a primary\n"
    "  kill                         kill:holder@acquired: kill the client that was just granted the lock\n"
    "  kill:holder@step:setnx-done  kill it between two of its commands (`holdfast list` shows a system's steps)\n"
    "  kill:server                  kill:server@acknowledged: kill the primary right after it acknowledged a grant\n"
    "  partition                    partition:holder@acquired: cut the holder off from the servers\n"
    "  partition:halves             and: replies (one way), server, or any links: partition:c1>n1+n1-c2\n"
    "  none                         no fault at all, for a scenario that has some\n"
    "\nExamples:\n"
    "  holdfast run L05 --seed 7\n"
    "  holdfast run redis-setpx-lua --faults pause,kill:server --time 30s --concurrency 10\n"
    "  holdfast run L05 --nodes n1,n2,n3,n4 --ssh-config cluster.conf";

struct Run {
  RunOptions options;
  unsigned test_count = 1;
};

int run_all(const Run& command) {
  int code = 0;
  for (unsigned i = 0; i < command.test_count; ++i) {
    RunRequest request = command.options.request();
    request.seed += i;
    request.argv = command.options.repeating_arguments();
    const RunOutcome outcome = execute(request);
    fmt::print("{}", run_card(outcome.info, outcome.results, outcome.folder, card_style_for(STDOUT_FILENO)));
    if (const std::string sentence = expectation(outcome.results); !sentence.empty()) fmt::print("{}\n", sentence);
    if (!outcome.crashed.empty()) fmt::print(stderr, "holdfast: {}\n", outcome.crashed);
    std::fflush(stdout);
    code = worse_exit_code(code, outcome.exit_code());
    if (was_interrupted()) break;
  }
  return code;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Run>();
  CLI::App* const run = app.add_subcommand("run", "Run one workload against one system, with or without faults");
  command->options.add_to(*run);
  run->add_option("--faults,--nemesis", command->options.faults, "Faults, separated by commas; none: no fault")
      ->delimiter(',');
  run->add_option("--test-count", command->test_count, "So many runs, each with the next seed")->capture_default_str();
  run->footer(kHelp);
  run->callback([command, &exit_code] { exit_code = run_all(*command); });
}

}  // namespace holdfast
