#include "checkers/lock_checker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace holdfast {

namespace {

constexpr std::uint64_t kLeastGrants = 10;
constexpr std::size_t kLeastProcesses = 2;

void add_reason(Verdict& verdict, const std::string& reason) {
  if (!verdict.reason.empty()) verdict.reason += "; ";
  verdict.reason += reason;
}

void doubt(Verdict& verdict, const std::string& reason) {
  verdict.validity = std::max(verdict.validity, Validity::unknown);
  add_reason(verdict, reason);
}

void settle_without_faults(const Scene& scene, Verdict& verdict) {
  std::uint64_t grants = 0;
  std::size_t processes = 0;
  for (const auto& [name, key] : scene.locks.keys) {
    std::set<Process> granted;
    for (const Hold& hold : key.holds) {
      if (!hold.granted()) continue;
      ++grants;
      granted.insert(hold.process);
    }
    processes = std::max(processes, granted.size());
  }
  const bool exercised = processes >= kLeastProcesses && grants >= kLeastGrants;
  verdict.exposures = exercised ? grants : 0;
  verdict.exposure = "grants";
  if (exercised) return;
  doubt(verdict, fmt::format("not exercised: {} grants, no lock granted to more than {} processes; {} grants and {} "
                             "processes on one lock are the least that says something",
                             grants, processes, kLeastGrants, kLeastProcesses));
}

void settle_with_faults(const Scene& scene, Verdict& verdict) {
  std::vector<std::uint64_t> not_effective;
  std::vector<std::uint64_t> not_healed;
  for (const FaultRecord& fault : scene.faults) {
    if (!fault.effective) {
      not_effective.push_back(fault.id);
      add_reason(verdict, fmt::format("fault {} ({}) had no effect", fault.id, fault.kind));
    }
    if (!fault.healed) {
      not_healed.push_back(fault.id);
      add_reason(verdict, fmt::format("fault {} ({}) was not seen to heal", fault.id, fault.kind));
    }
  }
  const std::size_t effective = scene.faults.size() - not_effective.size();
  verdict.detail["faults"] = {{"injected", scene.faults.size()},
                              {"effective", effective},
                              {"not_effective", not_effective},
                              {"not_healed", not_healed}};
  if (scene.faults.empty()) {
    doubt(verdict, "not exercised: no fault struck");
  } else if (effective == 0) {
    doubt(verdict, "not exercised: no fault had an effect");
  } else if (verdict.exposures == 0) {
    doubt(verdict, fmt::format("not exercised: there were no {}", verdict.exposure));
  }
}

}  // namespace

bool Scene::concerns(const FaultRecord& fault, const Hold& hold) const {
  if (!fault.effective) return false;
  if (fault.process) return *fault.process == hold.process;
  if (fault.server || hold.node().empty()) return true;
  if (std::ranges::find(fault.nodes, hold.node()) != fault.nodes.end()) return true;
  return std::ranges::none_of(fault.nodes, [&](const std::string& node) { return client_nodes.contains(node); });
}

std::vector<const FaultRecord*> Scene::faults_on(const Hold& hold, const Interval& during) const {
  std::vector<const FaultRecord*> found;
  for (const FaultRecord& fault : faults) {
    if (!concerns(fault, hold)) continue;
    // The nemesis records a kill when it has seen the effect, which may be after the end of the client was noticed.
    const bool killed = fault.process && fault.kind == "kill" && hold.exited != nullptr;
    const bool overlap = during.from <= fault.end && during.to >= fault.start;
    if (overlap || (killed && during.to >= hold.exited->time)) found.push_back(&fault);
  }
  return found;
}

std::string Scene::phrase(const FaultRecord& fault) {
  std::string what = fault.kind == "pause" ? "paused" : fault.kind == "kill" ? "killed" : fault.kind;
  if (fault.process) return fmt::format("process {} was {} (fault {})", number(*fault.process), what, fault.id);
  if (fault.server)
    return fmt::format("the server on {} was {} (fault {})", fmt::join(fault.nodes, ", "), what, fault.id);
  if (fault.kind == "partition") {
    return fmt::format("links between {} were cut (fault {})", fmt::join(fault.nodes, ", "), fault.id);
  }
  return fmt::format("fault {} ({}) was active on {}", fault.id, fault.kind, fmt::join(fault.nodes, ", "));
}

Verdict LockChecker::check(const History& history, const Budget& budget) const {
  Scene scene{
      .history = history, .locks = lock_history(history, budget), .faults = fault_records(history), .client_nodes = {}};
  for (const Operation& operation : history.operations()) {
    if (!operation.invoke->node.empty()) scene.client_nodes.insert(operation.invoke->node);
  }
  Verdict verdict;
  verdict.detail = Value::object();
  examine(scene, verdict);
  if (!verdict.findings.empty()) verdict.validity = Validity::invalid;
  if (!verdict.applicable) {
    verdict.validity = Validity::valid;
    verdict.exposures = 0;
    return verdict;
  }
  // A history that has faults is judged as one, whatever its reader expected.
  if (options_.faults || !scene.faults.empty()) {
    settle_with_faults(scene, verdict);
  } else {
    settle_without_faults(scene, verdict);
  }
  return verdict;
}

void LockChecker::count_believed_holds(const Scene& scene, Verdict& verdict) {
  verdict.exposure = "believed holds whose holder, link or server was hit by a fault";
  for (const auto& [name, key] : scene.locks.keys) {
    for (const Hold& hold : key.holds) {
      if (hold.granted() && !scene.faults_on(hold, hold.believed).empty()) ++verdict.exposures;
    }
  }
}

void LockChecker::add(Verdict& verdict, Finding finding) {
  verdict.detail["findings"] = verdict.detail.value("findings", std::uint64_t{0}) + 1;
  std::ranges::sort(finding.events);
  finding.events.erase(std::unique(finding.events.begin(), finding.events.end()), finding.events.end());
  if (verdict.findings.size() < kFindingLimit) verdict.findings.push_back(std::move(finding));
}

}  // namespace holdfast
