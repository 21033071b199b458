#include "cli/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <random>
#include <sstream>

#include "cli/duration.h"
#include "cli/scenarios.h"
#include "clusters/systems/registry.h"
#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

constexpr std::size_t kMostClients = 200;

std::uint64_t parse_number(std::string_view option, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    throw UsageError(fmt::format("{} {}: not a whole number from 0 on", option, text));
  }
  return number;
}

// "10", or "2n" for twice the number of nodes, as Jepsen has it.
std::size_t parse_concurrency(const std::string& text, std::size_t nodes) {
  const bool per_node = text.ends_with('n');
  const std::uint64_t number = parse_number("--concurrency", per_node ? text.substr(0, text.size() - 1) : text);
  const std::uint64_t clients = per_node ? number * nodes : number;
  if (clients < 1 || clients > kMostClients) {
    throw UsageError(fmt::format("--concurrency {}: from 1 to {} clients", text, kMostClients));
  }
  return clients;
}

std::vector<std::string> read_nodes(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("--nodes-file {}: cannot be read; it holds one host name per line", file));
  std::vector<std::string> nodes;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') nodes.push_back(line);
  }
  if (nodes.empty()) throw UsageError(fmt::format("--nodes-file {}: no host names in it", file));
  return nodes;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::string folder_name(const RunRequest& request) {
  std::string name = fmt::format("{}-{}", request.system->name, request.workload);
  for (const FaultPlan& plan : request.faults) name += "-" + plan.fault;
  return name;
}

RunRequest from_scenario(const Scenario& scenario, const std::vector<std::string>& faults) {
  RunRequest request;
  request.system = &find_system(scenario.system);
  request.name = scenario.id;
  const std::vector<std::string>& wanted = faults.empty() ? scenario.faults : faults;
  request.faults = parse_fault_plans(wanted, *request.system);
  request.lease = scenario.lease;
  request.hold = scenario.hold;
  request.time_limit = scenario.time_limit;
  request.concurrency = scenario.concurrency;
  if (faults.empty()) {
    for (const auto& [property, mark] : scenario.expected) request.expected[std::string(property)] = mark;
  }
  return request;
}

}  // namespace

void RunOptions::add_to(CLI::App& command) {
  command.add_option("subject", subject, "A system (redis-setpx-lua) or a scenario (L05); `holdfast list` shows them")
      ->required();
  command.add_option("-w,--workload", workload, "What the clients do")->capture_default_str();
  command.add_option("--time,--time-limit", time_limit,
                     "How long the clients work: 30s, 2m; a plain number is seconds");
  command.add_option("--seed", seed,
                     "Number that fixes what clients and nemesis draw (default: by chance, and printed)");
  command.add_option("--concurrency", concurrency,
                     "Clients, each a process on its own node; 2n: twice the server nodes");
  command.add_option("--lease", lease, "Lease of a lock (600ms)");
  command.add_option("--hold", hold, "Length of the critical section (60ms)");
  command.add_option("--wait", wait, "How long a client keeps trying for a lock (1500ms)");
  command.add_option("--locks", locks, "Number of locks")->capture_default_str();
  command.add_option("--op-timeout", operation_limit, "An operation without an answer for so long is unknown")
      ->capture_default_str();
  command.add_option("--client", client, "Your own client program instead of the system's (docs/adapters.md)");
  command.add_option("--nodes", nodes, "Hosts to use over SSH instead of local nodes: a,b,c")->delimiter(',');
  command.add_option("--nodes-file", nodes_file, "The same, one host per line");
  command.add_option("--ssh-config", ssh_config, "An OpenSSH configuration instead of ~/.ssh/config");
  command.add_option("--connect-timeout", connect_limit, "How long a host may take to let us in")
      ->capture_default_str();
  command.add_flag("--stop-on-violation", stop_on_violation,
                   "End the run at the event that proves a violation, rather than after --time");
  command.add_option("--store", store, "Folder for runs")->capture_default_str();
  command.add_flag("-v,--verbose", verbose, "Log to the terminal, too");
}

RunRequest RunOptions::request() const {
  set_verbose(verbose);
  const Scenario* const scenario = find_scenario(subject);
  RunRequest request;
  if (scenario != nullptr) {
    request = from_scenario(*scenario, faults);
  } else {
    request.system = &find_system(subject);
    request.faults = parse_fault_plans(faults, *request.system);
  }
  request.workload = workload;
  if (scenario == nullptr) request.name = folder_name(request);
  if (!time_limit.empty()) request.time_limit = parse_duration("--time", time_limit);
  if (!lease.empty()) request.lease = parse_duration("--lease", lease);
  if (!hold.empty()) request.hold = parse_duration("--hold", hold);
  if (!wait.empty()) request.wait = parse_duration("--wait", wait);
  request.operation_limit = parse_duration("--op-timeout", operation_limit);
  request.connect_limit = parse_duration("--connect-timeout", connect_limit);
  if (request.lease < std::chrono::milliseconds(50)) {
    throw UsageError(fmt::format("--lease {}: shorter than 50ms cannot be told from scheduling delays", lease));
  }
  if (locks < 1 || locks > 1000) throw UsageError(fmt::format("--locks {}: from 1 to 1000", locks));
  request.locks = locks;
  request.seed = seed.empty() ? std::random_device()() : parse_number("--seed", seed);
  request.store = store;
  request.nodes = nodes_file.empty() ? nodes : read_nodes(nodes_file);
  request.ssh_config = ssh_config;
  const std::size_t node_count = request.nodes.empty() ? request.system->server_nodes : request.nodes.size();
  if (!concurrency.empty()) request.concurrency = parse_concurrency(concurrency, node_count);
  request.client = words(client);
  request.stop_on_violation = stop_on_violation;
  return request;
}

std::vector<std::string> RunOptions::repeating_arguments() const {
  static const RunOptions defaults;
  std::vector<std::string> arguments = {"run", subject};
  const auto add = [&arguments](const char* flag, const std::string& value, const std::string& usual) {
    if (value == usual) return;
    arguments.emplace_back(flag);
    arguments.push_back(value);
  };
  add("--workload", workload, defaults.workload);
  add("--faults", fmt::format("{}", fmt::join(faults, ",")), "");
  add("--time", time_limit, defaults.time_limit);
  add("--concurrency", concurrency, defaults.concurrency);
  add("--lease", lease, defaults.lease);
  add("--hold", hold, defaults.hold);
  add("--wait", wait, defaults.wait);
  add("--locks", std::to_string(locks), std::to_string(defaults.locks));
  add("--op-timeout", operation_limit, defaults.operation_limit);
  add("--client", client, defaults.client);
  add("--nodes", fmt::format("{}", fmt::join(nodes, ",")), "");
  add("--nodes-file", nodes_file, defaults.nodes_file);
  add("--ssh-config", ssh_config, defaults.ssh_config);
  add("--store", store, defaults.store);
  if (stop_on_violation) arguments.emplace_back("--stop-on-violation");
  return arguments;
}

}  // namespace holdfast
