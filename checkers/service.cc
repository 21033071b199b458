#include "checkers/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lease_schedule.h"

namespace holdfast {

namespace {

using objects::HoldFault;
using objects::Job;

constexpr std::size_t kMostToMinimize = 40;

// A hold's operations for the deciders, in the order of their invocations.
class HoldOperations {
 public:
  explicit HoldOperations(const Hold& hold) : lease_{.least = hold.least_lease().count()} {
    add(*hold.acquire, objects::Call::acquire);
    for (const Renewal& renewal : hold.renewals) {
      add({.call = renewal.window.from.count(), .ret = renewal.window.to.count(), .f = objects::Call::renew},
          renewal.renewing->index, renewal.renewed->index);
    }
    for (const Operation* release : hold.releases) {
      if (release->ok() || release->unknown() || has_error(*release, "not-held")) add(*release, objects::Call::release);
    }
    arrange();
  }

  [[nodiscard]] objects::Reduced reduce(std::uint32_t hold) const {
    std::vector<std::uint32_t> members(operations_.size());
    for (std::uint32_t i = 0; i < members.size(); ++i) members[i] = i;
    return objects::reduce_hold(operations_, members, lease_, hold);
  }

 private:
  struct Events {
    std::uint64_t invoke = 0;
    std::uint64_t complete = UINT64_MAX;
  };

  void add(const Operation& operation, objects::Call f) {
    objects::Operation one{.call = operation.invoke->time.count(), .f = f, .outcome = objects::Outcome::unknown};
    if (operation.unknown()) return add(one, operation.invoke->index, UINT64_MAX);
    one.ret = operation.complete->time.count();
    one.outcome = operation.ok() ? objects::Outcome::ok : objects::Outcome::refused;
    add(one, operation.invoke->index, operation.complete->index);
  }
  void add(const objects::Operation& operation, std::uint64_t invoke, std::uint64_t complete) {
    operations_.push_back(operation);
    events_.push_back({invoke, complete});
  }

  // Events at one instant are still in order: one process did one thing after the other. Where it did not, only the
  // clock tells.
  void arrange() {
    std::vector<std::uint32_t> order(operations_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return events_[i].invoke; });
    std::vector<objects::Operation> sorted;
    std::uint64_t returned = 0;
    bool in_turn = true;
    for (const std::uint32_t i : order) {
      sorted.push_back(operations_[i]);
      sorted.back().process = i;
      in_turn = in_turn && (sorted.size() == 1 || returned < events_[i].invoke);
      if (events_[i].complete != UINT64_MAX) returned = events_[i].complete;
    }
    if (in_turn) {
      for (objects::Operation& each : sorted) each.process = 0;
    }
    operations_ = std::move(sorted);
  }

  objects::LeaseTerms lease_;
  std::vector<objects::Operation> operations_;
  std::vector<Events> events_;
};

Interval core_of(const Job& job) {
  return {.from = Time(job.hi), .to = Time(job.core_end())};
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
    case HoldFault::never_acquired:
      finding.kind = "used-before-acquire";
      finding.because = fmt::format("{}: a release or renewal of {} was granted before its acquire was sent",
                                    hold.key(), hold.describe());
      break;
    case HoldFault::released_twice:
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
  if (job.shape == Job::Shape::point) {
    return fmt::format("{} must have held it at some instant between {} and {}", hold.describe(),
                       seconds_text(Time(job.lo)), seconds_text(Time(job.hi)));
  }
  const Interval core = core_of(job);
  const Operation* const released = hold.released();
  std::string until;
  if (core.to == kNever) {
    until = "to the end of the history (no release, no lease)";
  } else if (core.to.count() == job.cap && released != nullptr) {
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

Finding conflict_finding(const std::vector<Job>& jobs, const LockKey& key, Time end) {
  Finding finding;
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
  if (jobs[0].shape == Job::Shape::point || jobs[1].shape == Job::Shape::point) {
    finding.because += "; both cannot be";
    return finding;
  }
  const Interval first = core_of(jobs[0]);
  const Interval second = core_of(jobs[1]);
  const Time overlap = std::min({first.to, second.to, std::max(end, second.from)}) - std::max(first.from, second.from);
  finding.because += fmt::format("; both held it for {}", milliseconds_text(overlap));
  finding.detail["overlap_ms"] = milliseconds(overlap);
  return finding;
}

// The holds of one key that cannot all have been granted, at most `limit` times; each list stands on its own.
class Conflicts {
 public:
  explicit Conflicts(std::vector<Job> jobs) : jobs_(std::move(jobs)) {}

  std::vector<std::vector<Job>> find(std::size_t limit) {
    std::vector<std::vector<Job>> found;
    while (found.size() < limit) {
      objects::Schedule schedule = place(jobs_);
      if (schedule.result == objects::Schedule::Result::too_many) {
        relax();
        schedule = place(jobs_);
      }
      if (schedule.result != objects::Schedule::Result::impossible) break;
      std::vector<std::uint32_t> culprits = std::move(schedule.culprits);
      const bool order_forced = std::ranges::all_of(culprits, [&](std::uint32_t i) { return !is_coreless(jobs_[i]); });
      if (!order_forced) culprits = minimal(std::move(culprits));
      std::vector<Job> conflict;
      for (const std::uint32_t culprit : culprits) conflict.push_back(jobs_[culprit]);
      std::ranges::reverse(conflict);
      found.push_back(std::move(conflict));
      forget(culprits);
    }
    return found;
  }
  [[nodiscard]] std::uint64_t relaxed() const { return relaxed_; }

 private:
  static bool is_coreless(const Job& job) { return job.shape == Job::Shape::stretch && !job.cored(); }

  static objects::Schedule place(const std::vector<Job>& jobs) {
    return objects::place_jobs(
        jobs, [](const Job&) { return std::vector<std::pair<objects::Instant, objects::Instant>>(); }, {});
  }

  // Too many acquires that took as long as their leases overlap: they may have expired a lease after the invocation.
  void relax() {
    for (Job& job : jobs_) {
      if (!is_coreless(job)) continue;
      job = {.lo = job.core_end(), .hi = job.hi, .length = 0, .hold = job.hold, .shape = Job::Shape::point};
      ++relaxed_;
    }
  }

  // Jobs whose order is not forced come with all that they could touch: only those that are needed are kept.
  [[nodiscard]] std::vector<std::uint32_t> minimal(std::vector<std::uint32_t> culprits) const {
    std::ranges::sort(culprits, std::greater<>(), [&](std::uint32_t i) { return jobs_[i].hi; });
    if (culprits.size() > kMostToMinimize) return culprits;
    for (std::size_t i = culprits.size(); i-- > 0;) {
      std::vector<Job> fewer;
      for (std::size_t j = 0; j < culprits.size(); ++j) {
        if (j != i) fewer.push_back(jobs_[culprits[j]]);
      }
      if (place(fewer).result != objects::Schedule::Result::impossible) continue;
      culprits.erase(culprits.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return culprits;
  }

  // What follows is looked at as if the one that came too late were the first. A point in the way is left out itself.
  void forget(const std::vector<std::uint32_t>& culprits) {
    std::vector<bool> gone(jobs_.size());
    const bool point = jobs_[culprits.front()].shape == Job::Shape::point;
    for (std::size_t i = point ? 0 : 1; i < (point ? 1 : culprits.size()); ++i) gone[culprits[i]] = true;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!gone[i]) jobs_[kept++] = jobs_[i];
    }
    jobs_.resize(kept);
  }

  std::vector<Job> jobs_;
  std::uint64_t relaxed_ = 0;
};

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
    for (std::uint32_t index = 0; index < key.holds.size(); ++index) {
      const objects::Reduced reduced = HoldOperations(key.holds[index]).reduce(index);
      if (reduced.fault != HoldFault::none) add(verdict, fault_finding(key.holds[index], reduced.fault));
      if (reduced.job.shape != Job::Shape::nothing) jobs.push_back(reduced.job);
    }
    Conflicts conflicts(std::move(jobs));
    for (const std::vector<Job>& conflict : conflicts.find(kFindingLimit)) {
      add(verdict, conflict_finding(conflict, key, scene.locks.end));
    }
    relaxed += conflicts.relaxed();
  }
  if (relaxed > 0) verdict.detail["relaxed_holds"] = relaxed;
  count_exposures(scene, verdict);
}

}  // namespace holdfast
