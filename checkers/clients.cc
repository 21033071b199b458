#include "checkers/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace holdfast {

namespace {

std::string lease_text(const Scene& scene, const Hold& earlier, Time overlap_from) {
  if (!earlier.lease) return "the lock has no lease, so it was granted twice";
  Time refreshed = earlier.acquire->invoke->time;
  for (const Renewal& renewal : earlier.renewals) refreshed = std::max(refreshed, renewal.renewing->time);
  const Time lease_end = refreshed + *earlier.lease;
  if (lease_end > overlap_from) {
    return fmt::format("the lease of {} of the first still had {} to run", milliseconds_text(*earlier.lease),
                       milliseconds_text(lease_end - overlap_from));
  }
  std::string text = fmt::format("the lease of {} of the first had run out {} earlier",
                                 milliseconds_text(*earlier.lease), milliseconds_text(overlap_from - lease_end));
  const auto faults = scene.faults_on(earlier, {.from = earlier.believed.from, .to = overlap_from});
  if (!faults.empty()) text += fmt::format(" while {}", Scene::phrase(*faults.back()));
  return text;
}

std::string token_text(const Hold& earlier, const Hold& later) {
  if (!earlier.token || !later.token) return "no fencing token was issued, so the resource cannot tell the two apart";
  if (*earlier.token < *later.token) {
    return fmt::format("a resource that checks fencing tokens stops the first ({} is older than {})", *earlier.token,
                       *later.token);
  }
  return fmt::format("fencing cannot stop the first: its token {} is not older than {}", *earlier.token, *later.token);
}

Finding overlap_finding(const Scene& scene, const Hold& earlier, const Hold& later) {
  const Interval both{.from = std::max(earlier.believed.from, later.believed.from),
                      .to = std::min(earlier.believed.to, later.believed.to)};
  Finding finding;
  finding.kind = "believed-hold-overlap";
  finding.because =
      fmt::format("{}: {} and {} both believed to hold the lock for {}, from {} on; {}; {}", earlier.key(),
                  earlier.describe(), later.describe(), milliseconds_text(both.to - both.from), seconds_text(both.from),
                  lease_text(scene, earlier, both.from), token_text(earlier, later));
  for (const Hold* hold : {&earlier, &later}) {
    for (const std::uint64_t event : {hold->acquire->invoke->index, hold->acquire->complete->index}) {
      finding.events.push_back(event);
    }
    if (hold->belief_end != nullptr) finding.events.push_back(hold->belief_end->index);
  }
  for (const FaultRecord* fault : scene.faults_on(earlier, {.from = earlier.believed.from, .to = both.from})) {
    finding.events.push_back(fault->start_event);
  }
  finding.detail = {{"key", earlier.key()},
                    {"holds", {earlier.id, later.id}},
                    {"processes", {number(earlier.process), number(later.process)}},
                    {"from_ms", milliseconds(both.from)},
                    {"overlap_ms", milliseconds(both.to - both.from)}};
  return finding;
}

}  // namespace

void ClientsChecker::examine(const Scene& scene, Verdict& verdict) const {
  std::uint64_t pairs = 0;
  verdict.applicable = false;
  for (const auto& [name, key] : scene.locks.keys) {
    verdict.applicable |= !key.attempts.empty();
    std::vector<const Hold*> holds;
    for (const Hold& hold : key.holds) {
      if (hold.granted() && !hold.believed.empty()) holds.push_back(&hold);
    }
    std::ranges::sort(holds, {}, [](const Hold* hold) { return std::pair(hold->believed.from, hold->id); });
    std::set<std::tuple<Time, std::uint64_t, const Hold*>> active;  // by the end of belief
    for (const Hold* hold : holds) {
      while (!active.empty() && std::get<0>(*active.begin()) <= hold->believed.from) active.erase(active.begin());
      pairs += active.size();
      for (const auto& [to, id, earlier] : active) {
        if (verdict.findings.size() >= kFindingLimit) break;
        add(verdict, overlap_finding(scene, *earlier, *hold));
      }
      active.emplace(hold->believed.to, hold->id, hold);
    }
  }
  verdict.detail["findings"] = pairs;
  count_believed_holds(scene, verdict);
}

}  // namespace holdfast
