#include "checkers/service.h"

#include <fmt/format.h>

#include "checkers/lease_jobs.h"

namespace holdfast {

namespace {

Window window_of(const Operation& operation) {
  Window window{.inv = operation.invoke->time, .inv_index = operation.invoke->index};
  if (!operation.unknown()) {
    window.ret = operation.complete->time;
    window.ret_index = operation.complete->index;
  }
  return window;
}

HoldEvidence evidence_of(const Hold& hold) {
  HoldEvidence evidence;
  evidence.acquire = window_of(*hold.acquire);
  evidence.acquire_ok = hold.granted();
  evidence.least_lease = hold.least_lease();
  for (const Renewal& renewal : hold.renewals) {
    evidence.renewals.push_back({.inv = renewal.window.from,
                                 .ret = renewal.window.to,
                                 .inv_index = renewal.renewing->index,
                                 .ret_index = renewal.renewed->index});
  }
  for (const Operation* release : hold.releases) {
    if (release->ok()) {
      evidence.releases.emplace_back(window_of(*release), ReleaseAnswer::ok);
    } else if (release->unknown()) {
      evidence.releases.emplace_back(window_of(*release), ReleaseAnswer::unknown);
    } else if (has_error(*release, "not-held")) {
      evidence.releases.emplace_back(window_of(*release), ReleaseAnswer::not_held);
    }
  }
  return evidence;
}

std::string lease_text(const Hold& hold) {
  if (!hold.lease) return "it has no lease that could end";
  return fmt::format("its lease of {} could not end before {}", milliseconds_text(*hold.lease),
                     seconds_text(hold.lease_end()));
}

Finding fault_finding(const Hold& hold, HoldFault fault) {
  Finding finding;
  finding.events = hold.events();
  finding.detail = {{"key", hold.key()}, {"hold", hold.id}, {"process", number(hold.process)}};
  switch (fault) {
    case HoldFault::used_after_release:
      finding.kind = "used-after-release";
      finding.because =
          fmt::format("{}: {} gave the lock back, and later a release or renewal of the same hold was granted",
                      hold.key(), hold.describe());
      break;
    case HoldFault::regained:
      finding.kind = "lost-then-regained";
      finding.because = fmt::format(
          "{}: {} was told that it does not hold the lock, and later a release or renewal of the same hold was granted",
          hold.key(), hold.describe());
      break;
    default:
      finding.kind = "lost-before-lease-end";
      finding.because = fmt::format("{}: {} was told that it does not hold the lock, but it had not released it and {}",
                                    hold.key(), hold.describe(), lease_text(hold));
  }
  return finding;
}

Finding stray_finding(const Operation& release) {
  Finding finding;
  finding.kind = "released-without-hold";
  finding.because =
      fmt::format("{}: a release by process {} was answered ok at {}, but it had no lock to release",
                  release.invoke->key, number(release.invoke->process), seconds_text(release.complete->time));
  finding.events = {release.invoke->index, release.complete->index};
  finding.detail = {{"key", release.invoke->key}, {"process", number(release.invoke->process)}};
  return finding;
}

std::string certainty_text(const Job& job, const Hold& hold) {
  if (job.point) {
    return fmt::format("{} must have held it at some instant between {} and {}", hold.describe(), seconds_text(job.lo),
                       seconds_text(job.hi));
  }
  const Interval core = job.core();
  const Operation* const released = hold.released();
  std::string until;
  if (core.to == kNever) {
    until = "to the end of the history (no release, no lease)";
  } else if (core.to == job.cap && released != nullptr) {
    until = fmt::format("to {} (its release, event {})", seconds_text(core.to), released->invoke->index);
  } else if (hold.lease && core.to == hold.lease_end()) {
    until = fmt::format("to {} (its lease of {} could not end earlier)", seconds_text(core.to),
                        milliseconds_text(*hold.lease));
  } else {
    until = fmt::format("to {} (a release was on its way)", seconds_text(core.to));
  }
  const Event* const since = hold.granted() ? hold.acquire->complete : hold.renewals.front().renewed;
  return fmt::format("{} certainly held it from {} (event {}) {}", hold.describe(), seconds_text(core.from),
                     since->index, until);
}

Finding conflict_finding(const Conflict& conflict, const LockKey& key, Time end) {
  Finding finding;
  const std::vector<Job>& jobs = conflict.jobs;
  const std::string& name = key.holds[jobs.front().hold].key();
  finding.kind = jobs.size() == 2 ? "two-holders" : "impossible-grants";
  finding.because = name + ": ";
  finding.detail = {{"key", name}, {"holds", Value::array()}};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Hold& hold = key.holds[jobs[i].hold];
    if (i > 0) finding.because += i + 1 == jobs.size() ? ", and " : ", ";
    finding.because += certainty_text(jobs[i], hold);
    finding.detail["holds"].push_back(hold.id);
    for (const std::uint64_t event : hold.events()) finding.events.push_back(event);
  }
  if (jobs.size() > 2) {
    finding.because += "; each of these leases pushes the next, and the last cannot begin in time";
    return finding;
  }
  if (jobs[0].point || jobs[1].point) {
    finding.because += "; both cannot be";
    return finding;
  }
  const Interval first = jobs[0].core();
  const Interval second = jobs[1].core();
  const Time overlap = std::min({first.to, second.to, std::max(end, second.from)}) - std::max(first.from, second.from);
  finding.because += fmt::format("; both held it for {}", milliseconds_text(overlap));
  finding.detail["overlap_ms"] = milliseconds(overlap);
  return finding;
}

void count_exposures(const Scene& scene, Verdict& verdict) {
  verdict.exposure = "holds and attempts whose client, link or server was hit by a fault";
  for (const auto& [name, key] : scene.locks.keys) {
    for (const Hold& hold : key.holds) {
      Interval held{.from = hold.acquire->invoke->time, .to = hold.granted() ? hold.believed.to : scene.locks.end};
      if (!hold.granted() && hold.exited != nullptr) held.to = hold.exited->time;
      for (const Operation* release : hold.releases) {  // the service still decides while a release is under way
        if (release->complete != nullptr) held.to = std::max(held.to, release->complete->time);
      }
      if (!scene.faults_on(hold, held).empty()) ++verdict.exposures;
    }
  }
}

}  // namespace

void ServiceChecker::examine(const Scene& scene, Verdict& verdict) const {
  std::uint64_t relaxed = 0;
  verdict.applicable = false;
  for (const auto& [name, key] : scene.locks.keys) {
    verdict.applicable |= !key.attempts.empty();
    for (const Operation* stray : key.strays) {
      if (stray->invoke->f == "release" && stray->ok()) add(verdict, stray_finding(*stray));
    }
    std::vector<Job> jobs;
    for (std::size_t index = 0; index < key.holds.size(); ++index) {
      const Reduced reduced = reduce_hold(evidence_of(key.holds[index]), index);
      if (reduced.fault != HoldFault::none) add(verdict, fault_finding(key.holds[index], reduced.fault));
      if (reduced.job) jobs.push_back(*reduced.job);
      relaxed += reduced.relaxed ? 1 : 0;
    }
    for (const Conflict& conflict : lease_check(jobs, kFindingLimit)) {
      add(verdict, conflict_finding(conflict, key, scene.locks.end));
    }
  }
  if (relaxed > 0) verdict.detail["relaxed_holds"] = relaxed;
  count_exposures(scene, verdict);
}

}  // namespace holdfast
