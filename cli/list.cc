#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "checkers/registry.h"
#include "cli/commands.h"
#include "cli/scenarios.h"
#include "clusters/systems/registry.h"
#include "nemesis/registry.h"
#include "workloads/registry.h"

namespace holdfast {

namespace {

void list_systems() {
  fmt::print("Systems                     (holdfast audit SYSTEM, holdfast run SYSTEM)\n");
  for (const SystemEntry& entry : systems()) {
    fmt::print("  {:<25} {}\n", entry.name, entry.summary);
    fmt::print("  {:<25} workloads: {}{}{}\n", "", fmt::join(entry.workloads, ", "),
               entry.steps.empty() ? "" : "; steps: ", fmt::join(entry.steps, ", "));
  }
}

void list_faults() {
  fmt::print("\nFaults                      (--faults FAULT[:TARGET][@TRIGGER],…)\n");
  for (const FaultEntry& entry : faults()) {
    fmt::print("  {:<25} {}\n", entry.name, entry.summary);
    for (const FaultTarget& target : entry.targets) {
      fmt::print("    {:<23} {}\n", fmt::format("{}:{}", entry.name, target.name), target.summary);
    }
    if (entry.takes_links)
      fmt::print("    {:<23} any links: a>b one way, a-b both ways, joined by +\n", std::string(entry.name) + ":LINKS");
  }
  fmt::print("  triggers: @acquired @reading @acknowledged @step:NAME @time\n");
}

void list_all() {
  list_systems();
  fmt::print("\nWorkloads                   (--workload NAME)\n");
  for (const WorkloadEntry& entry : workloads()) fmt::print("  {:<25} {}\n", entry.name, entry.summary);
  list_faults();
  fmt::print("\nPromises that a lock is judged by\n");
  for (const CheckerEntry& entry : lock_checker_table()) fmt::print("  {:<25} {}\n", entry.name, entry.summary);
  fmt::print("\nScenarios                   (holdfast run L05)\n");
  for (const Scenario& row : scenarios()) {
    fmt::print("  {:<4} {:<25} {}\n", row.id, row.system, row.summary);
    std::vector<std::string> expected;
    for (const auto& [property, mark] : row.expected) expected.push_back(fmt::format("{} {}", property, mark));
    fmt::print("  {:<30} {}: {}\n", "", fmt::join(row.faults, ", "), fmt::join(expected, ", "));
  }
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* const sub = app.add_subcommand("list", "Show systems, workloads, faults, promises and scenarios");
  sub->callback([&exit_code] {
    list_all();
    exit_code = 0;
  });
}

}  // namespace holdfast
