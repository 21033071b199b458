#include "cli/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <optional>
#include <system_error>

#include "checkers/judge.h"
#include "checkers/online/watch.h"
#include "cli/object_check.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "clusters/local/cluster.h"
#include "clusters/ssh/cluster.h"
#include "clusters/systems/registry.h"
#include "harness/error.h"
#include "harness/log.h"
#include "harness/runner.h"
#include "nemesis/registry.h"
#include "nemesis/schedule.h"
#include "results/report.h"
#include "workloads/registry.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

std::unique_ptr<Cluster> make_cluster(const RunRequest& request) {
  if (request.nodes.empty()) {
    return std::make_unique<LocalCluster>(LocalClusterOptions{.servers = request.system->server_nodes,
                                                              .clients = request.concurrency,
                                                              .program_folder = our_program_folder(),
                                                              .seed = request.seed});
  }
  return std::make_unique<SshCluster>(
      SshOptions{.nodes = request.nodes,
                 .ssh_config = request.ssh_config,
                 .connect_limit = std::chrono::ceil<std::chrono::milliseconds>(request.connect_limit),
                 .program_folder = our_program_folder(),
                 .server_nodes = request.system->server_nodes});
}

WorkloadOptions workload_options(const RunRequest& request) {
  return {.system = request.system,
          .seed = request.seed,
          .time_limit = request.time_limit,
          .lease = request.lease,
          .hold = request.hold,
          .wait = request.wait,
          .locks = request.locks,
          .faults = !request.faults.empty()};
}

RunInfo run_info(const RunRequest& request) {
  RunInfo info;
  info.name = request.name;
  info.system = request.system->name;
  info.workload = request.workload;
  for (const FaultPlan& plan : request.faults) info.faults.push_back(to_string(plan));
  info.argv = request.argv;
  info.seed = request.seed;
  info.versions = {{"holdfast", kVersion}};
  const auto milliseconds = [](Time time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  };
  info.options = {{"time_limit_ms", milliseconds(request.time_limit)},
                  {"lease_ms", milliseconds(request.lease)},
                  {"hold_ms", milliseconds(request.hold)},
                  {"wait_ms", milliseconds(request.wait)},
                  {"operation_limit_ms", milliseconds(request.operation_limit)},
                  {"locks", request.locks},
                  {"concurrency", request.concurrency}};
  if (!request.expected.is_null()) info.options["expected"] = request.expected;
  return info;
}

// A client program of the user's own: files among its words are put on every client node.
std::vector<std::string> place_client(const std::vector<std::string>& words, Cluster& cluster) {
  std::vector<std::string> placed = words;
  for (std::string& word : placed) {
    if (!fs::is_regular_file(word)) continue;
    const std::string name = fs::path(word).filename();
    std::string there;
    for (Node* node : cluster.clients()) {
      there = node->data_folder() + "/" + name;
      node->upload(word, there);
    }
    word = there;
  }
  return placed;
}

void fetch(Node& node, const std::string& theirs, const fs::path& run) {
  try {
    const fs::path folder = run / "nodes" / node.name();
    fs::create_directories(folder);
    node.download(theirs, folder / fs::path(theirs).filename());
  } catch (const std::exception& error) {  // a log that never came to be, or a node that is gone: say so and go on
    log(LogLevel::warning, node.name(), fmt::format("log {} was not fetched: {}", theirs, error.what()));
  }
}

void fetch_logs(const RunRequest& request, Cluster& cluster, Server& server, const fs::path& run) {
  for (Node* node : cluster.servers()) {
    for (const std::string& file : server.logs(*node)) fetch(*node, file, run);
  }
  Node& resource = cluster.resource();
  fetch(resource, resource.data_folder() + "/resource.log", run);
  for (std::size_t lane = 0; lane < request.concurrency; ++lane) {
    Node& node = *cluster.clients()[lane % cluster.clients().size()];
    fetch(node, fmt::format("{}/client-{}.log", node.data_folder(), lane), run);
  }
}

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  return flag;
}

// Ctrl-C once: heal, fetch logs, judge what there is. Twice: the default, which the kernel makes clean enough.
void on_interrupt(int /*signal*/) {
  interrupted() = true;
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &action, nullptr);
}

void watch_for_interrupts() {
  interrupted() = false;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

// Everything that needs the cluster. The history is closed on disk when this returns or throws.
void run_on_cluster(const RunRequest& request, RunFolder& folder) {
  Progress progress(request.time_limit);
  progress.say("making nodes");
  const std::unique_ptr<Cluster> cluster = make_cluster(request);
  const std::unique_ptr<Server> server = request.system->make_server();
  RunInfo info = folder.info();
  for (const Node* node : cluster->all()) info.nodes.push_back(node->name());
  for (const FaultPlan& plan : request.faults) find_fault(plan.fault).make(plan.target)->prepare(*cluster);
  progress.say(fmt::format("starting {}", server->name()));
  for (Node* node : cluster->servers()) {
    server->install(*node);
    server->start(*node);
  }
  info.versions[std::string(server->name())] = server->version(*cluster->servers()[0]);
  folder.update(info);
  Workload workload = find_workload(request.workload).make(workload_options(request));
  std::unique_ptr<Nemesis> nemesis;
  if (!request.faults.empty()) {
    nemesis =
        make_nemesis(request.faults, {.seed = request.seed, .leases = request.system->leases, .lease = request.lease});
  }
  Recorder recorder(folder.history_file());
  std::exception_ptr failure;
  std::unique_ptr<online::Watch> watch = request.stop_on_violation ? online::watch_for(request.workload) : nullptr;
  try {
    run({.system = *request.system,
         .cluster = *cluster,
         .server = *server,
         .workload = workload,
         .nemesis = nemesis.get(),
         .recorder = recorder,
         .concurrency = request.concurrency,
         .operation_limit = request.operation_limit,
         .client_command = place_client(request.client, *cluster),
         .interrupted = &interrupted(),
         .on_event =
             [&watch](const Event& event) {
               const auto alarm = watch ? watch->see(event) : std::nullopt;
               if (!alarm) return false;
               log(LogLevel::info, "", fmt::format("stopped at event {}: {}", alarm->event, alarm->because));
               watch.reset();  // the first is the one to tell
               return true;
             },
         .on_status = [&progress](const RunStatus& status) { progress.show(status); }});
  } catch (const Error&) {
    failure = std::current_exception();
  }
  nemesis.reset();
  progress.say("fetching logs");
  fetch_logs(request, *cluster, *server, folder.path());
  recorder.close();
  folder.history_closed();
  if (failure) std::rethrow_exception(failure);
}

// What the clients worked on, judged as objects; the proof goes to `certificates` when that is not null. What cannot be
// judged so costs this verdict and no other.
std::optional<Judgement> judge_objects(const fs::path& file, const WorkloadEntry& workload, std::string* certificates) {
  if (workload.model.empty()) return std::nullopt;
  ObjectCheck check;
  check.file = file;
  check.model = workload.model;
  try {
    const ObjectResults checked = check_objects(check);
    if (certificates != nullptr) *certificates = certificates_text(checked);
    const PropertyResult& property = checked.results.properties.front();
    return Judgement{property.name, property.title, property.verdict, property.milliseconds};
  } catch (const std::exception& error) {
    log(LogLevel::warning, "", fmt::format("the history was not judged as {}: {}", workload.model, error.what()));
    Judgement judgement{.name = "linearizability", .title = fmt::format("linearizable as {}", workload.model)};
    judgement.verdict.validity = Validity::unknown;
    judgement.verdict.reason = error.what();
    return judgement;
  }
}

std::vector<PropertyResult> judge_history(const History& history, std::optional<Judgement> objects,
                                          const WorkloadEntry& workload, const WorkloadOptions& options,
                                          Validity& validity) {
  std::vector<Judgement> judgements = judge(history, workload.make(options).checkers);
  // A lock's service verdict says the same with more words. Should it ever say less, the worse news is shown, too.
  const auto service = std::ranges::find(judgements, "service", &Judgement::name);
  const bool said = objects && service != judgements.end() &&
                    (service->verdict.validity == Validity::invalid || objects->verdict.validity != Validity::invalid);
  if (objects && !said) judgements.insert(judgements.begin(), *std::move(objects));
  validity = overall(judgements);
  std::vector<PropertyResult> properties;
  for (const Judgement& judgement : judgements) {
    properties.push_back({judgement.name, judgement.title, judgement.verdict, judgement.milliseconds});
  }
  return properties;
}

}  // namespace

fs::path our_program_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

bool was_interrupted() {
  return interrupted();
}

int exit_code_of(Validity validity) {
  switch (validity) {
    case Validity::valid:
      return 0;
    case Validity::unknown:
      return 2;
    case Validity::invalid:
      return 1;
  }
  return 255;
}

int worse_exit_code(int a, int b) {
  static constexpr std::array kByBadness = {0, 2, 255, 1};
  const auto badness = [](int code) { return std::find(kByBadness.begin(), kByBadness.end(), code); };
  return badness(a) > badness(b) ? a : b;
}

int RunOutcome::exit_code() const {
  const int verdict = exit_code_of(results.validity);
  return crashed.empty() || verdict == 1 ? verdict : 255;
}

std::string expectation(const RunResults& results) {
  if (!results.expected.is_object()) return {};
  std::vector<std::string> wrong;
  for (const auto& [name, wanted] : results.expected.items()) {
    std::string found = "not checked";
    for (const PropertyResult& property : results.properties) {
      if (property.name == name) found = to_string(mark_of(property.verdict));
    }
    if (found != wanted.get<std::string>()) {
      wrong.push_back(fmt::format("{}: {} instead of {}", name, found, wanted.get<std::string>()));
    }
  }
  if (wrong.empty()) return "The verdict is the expected one.";
  return fmt::format("The verdict is NOT the expected one: {}.", fmt::join(wrong, "; "));
}

RunOutcome check_run(const fs::path& folder) {
  RunOutcome outcome;
  outcome.folder = folder;
  outcome.info = read_run_info(folder);
  const HistoryFile file = read_history(folder / "history.jsonl");
  WorkloadOptions options{.system = &find_system(outcome.info.system), .faults = !outcome.info.faults.empty()};
  Validity validity = Validity::unknown;
  const WorkloadEntry& workload = find_workload(outcome.info.workload);
  std::string certificates;
  std::vector<PropertyResult> properties = judge_history(
      file.history, judge_objects(folder / "history.jsonl", workload, &certificates), workload, options, validity);
  outcome.results = make_results(validity, std::move(properties), file);
  outcome.results.expected = outcome.info.options.value("expected", Value());
  write_file(folder / "results.json", to_json_text(outcome.results));
  if (!certificates.empty()) write_file(folder / kCertificates, certificates);
  write_file(folder / "report.html", report_html(outcome.info, outcome.results, file.history, folder));
  return outcome;
}

RunResults check_history(const fs::path& file, const std::string& workload) {
  const HistoryFile history = read_history(file);
  WorkloadOptions options{.system = systems().data(), .faults = !fault_records(history.history).empty()};
  Validity validity = Validity::unknown;
  const WorkloadEntry& entry = find_workload(workload);
  std::vector<PropertyResult> properties =
      judge_history(history.history, judge_objects(file, entry, nullptr), entry, options, validity);
  return make_results(validity, std::move(properties), history);
}

RunOutcome execute(const RunRequest& request) {
  const auto& speaks = request.system->workloads;
  if (std::find(speaks.begin(), speaks.end(), request.workload) == speaks.end()) {
    throw UsageError(fmt::format("system {} does not speak workload \"{}\"; it speaks {}", request.system->name,
                                 request.workload, fmt::join(speaks, ", ")));
  }
  if (request.stop_on_violation && online::watch_for(request.workload) == nullptr) {
    throw UsageError(fmt::format("--stop-on-violation: workload {} can be judged only when it is over; leave it out",
                                 request.workload));
  }
  RunFolder folder = RunFolder::create(request.store, run_info(request));
  open_log(folder.path() / "holdfast.log");
  watch_for_interrupts();
  std::string crashed;
  try {
    run_on_cluster(request, folder);
  } catch (const Error& error) {
    log(LogLevel::error, "", error.what());
    crashed = error.what();
  }
  RunOutcome outcome{.folder = folder.path(), .info = folder.info(), .results = {}, .crashed = crashed};
  try {
    if (fs::exists(folder.history_file())) outcome = check_run(folder.path());
    outcome.crashed = crashed;
    write_index(request.store);
  } catch (const Error& error) {  // a full disk takes no report either; the first trouble is the one to tell
    if (outcome.crashed.empty()) outcome.crashed = error.what();
  }
  close_log();
  return outcome;
}

}  // namespace holdfast
