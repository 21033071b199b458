#include "checkers/lease_jobs.h"

#include <algorithm>
#include <queue>

namespace holdfast {

namespace {

struct Uses {
  Time first_return = kNever;  // the hold had begun by then
  Time last_invoke{};          // and was still there at some time from here on
  std::size_t count = 0;       // granted renewals and releases answered ok
  const Window* release = nullptr;
  Time unknown_release = kNever;
  Time lost_by = kNever;  // "not held" was answered by then
  bool used_after_release = false;
  bool regained = false;
};

void add_use(Uses& uses, const Window& window) {
  uses.first_return = std::min(uses.first_return, window.ret);
  uses.last_invoke = std::max(uses.last_invoke, window.inv);
  ++uses.count;
}

template <typename Function>
void for_each_use(const HoldEvidence& evidence, Function&& function) {
  for (const Window& renewal : evidence.renewals) function(renewal);
  for (const auto& [window, answer] : evidence.releases) {
    if (answer == ReleaseAnswer::ok) function(window);
  }
}

// The first "not held" that speaks of the time after the grant and before the release answered ok.
const Window* first_not_held(const HoldEvidence& evidence, const Uses& uses) {
  const Window* first = nullptr;
  for (const auto& [window, answer] : evidence.releases) {
    if (answer != ReleaseAnswer::not_held) continue;
    bool after_grant = evidence.acquire_ok && evidence.acquire.ret_index < window.inv_index;
    for_each_use(evidence, [&](const Window& use) { after_grant |= use.ret_index < window.inv_index; });
    const bool before_release = uses.release == nullptr || window.ret_index < uses.release->inv_index;
    if (after_grant && before_release && (first == nullptr || window.ret_index < first->ret_index)) first = &window;
  }
  return first;
}

Uses collect(const HoldEvidence& evidence) {
  Uses uses;
  uses.last_invoke = evidence.acquire.inv;
  if (evidence.acquire_ok) uses.first_return = evidence.acquire.ret;
  for_each_use(evidence, [&](const Window& use) { add_use(uses, use); });
  for (const auto& [window, answer] : evidence.releases) {
    if (answer == ReleaseAnswer::ok && uses.release == nullptr) uses.release = &window;
    if (answer == ReleaseAnswer::unknown) uses.unknown_release = std::min(uses.unknown_release, window.inv);
  }
  const Window* const not_held = first_not_held(evidence, uses);
  if (not_held != nullptr) uses.lost_by = not_held->ret;
  for_each_use(evidence, [&](const Window& use) {
    uses.used_after_release |= uses.release != nullptr && uses.release->ret_index < use.inv_index;
    uses.regained |= not_held != nullptr && not_held->ret_index < use.inv_index;
  });
  return uses;
}

Reduced broken(HoldFault fault) {
  return {.fault = fault, .job = std::nullopt, .relaxed = false};
}
Reduced possible(const Job& job, bool relaxed = false) {
  return {.fault = HoldFault::none, .job = job, .relaxed = relaxed};
}

// It held from `from` at the latest to `to` at the earliest; when that leaves nothing certain, at an instant between.
Job between(Time from, Time to, std::size_t hold) {
  if (from < to) return {.point = false, .lo = from, .hi = from, .length = kNever, .cap = to, .hold = hold};
  return {.point = true, .lo = to, .hi = from, .length = Time{}, .cap = kNever, .hold = hold};
}

// Used once only, so that start and end of the lease are coupled: start in [lo, hi], end a lease later.
Reduced reduce_single(const Window& use, const HoldEvidence& evidence, const Uses& uses, std::size_t hold) {
  Job job{.point = false,
          .lo = std::max(use.inv, evidence.acquire.inv),
          .hi = use.ret,
          .length = evidence.least_lease,
          .cap = uses.unknown_release,
          .hold = hold};
  if (job.cap <= job.lo) {
    job.hi = std::min(job.hi, uses.lost_by);
    if (job.hi < job.lo) return broken(HoldFault::lost_early);
    return possible({.point = true, .lo = job.lo, .hi = job.hi, .length = Time{}, .hold = hold});
  }
  if (job.cap > uses.lost_by) {  // no release can explain the loss: the lease must have ended by then
    if (job.length == kNever || uses.lost_by - job.length < job.lo) return broken(HoldFault::lost_early);
    job.hi = std::min(job.hi, uses.lost_by - job.length);
  }
  const Interval core = job.core();
  if (core.from < core.to) return possible(job);
  const Time earliest_end = std::min(job.cap, later_by(job.lo, job.length));
  const Time lease_end = later_by(job.lo, job.length);
  const bool relaxed = job.length > Time{} && lease_end <= job.hi && lease_end < job.cap;
  return possible({.point = true, .lo = earliest_end, .hi = job.hi, .length = Time{}, .hold = hold}, relaxed);
}

}  // namespace

Reduced reduce_hold(const HoldEvidence& evidence, std::size_t hold) {
  const Uses uses = collect(evidence);
  if (!evidence.acquire_ok && uses.count == 0) return {};
  if (uses.used_after_release) return broken(HoldFault::used_after_release);
  if (uses.regained) return broken(HoldFault::regained);
  if (uses.release != nullptr) return possible(between(uses.first_return, uses.last_invoke, hold));
  if (uses.count == 0) return reduce_single(evidence.acquire, evidence, uses, hold);
  if (!evidence.acquire_ok && uses.count == 1) return reduce_single(evidence.renewals.front(), evidence, uses, hold);
  const Time end =
      std::min(std::max(uses.unknown_release, uses.last_invoke), later_by(uses.last_invoke, evidence.least_lease));
  if (end > uses.lost_by) return broken(HoldFault::lost_early);
  return possible(between(uses.first_return, end, hold));
}

namespace {

// Places the jobs greedily, each as early as it can go. Cores have positive length, so the order of the jobs is forced
// (by hi), and an earlier end never hurts: when the greedy placement fails, every placement does.
class Placement {
 public:
  Placement(const std::vector<Job>& jobs, std::size_t limit) : limit_(limit) {
    for (const Job& job : jobs) (job.point ? points_ : cores_).push_back(job);
    std::ranges::sort(cores_, {}, [](const Job& job) { return std::pair(job.hi, job.lo); });
    std::ranges::sort(points_, {}, &Job::lo);
    for (std::size_t index = 0; index < points_.size(); ++index) open_.emplace(points_[index].hi, index);
  }

  std::vector<Conflict> run() {
    for (std::size_t index = 0; index < cores_.size() && conflicts_.size() < limit_; ++index) place(index);
    return std::move(conflicts_);
  }

 private:
  using Open = std::pair<Time, std::size_t>;  // latest instant and index of a point

  struct Cause {                      // what kept the job from starting at its lo
    bool pushed = false;              // by the job before it
    std::vector<std::size_t> points;  // and by these points, in this order
  };

  void place(std::size_t index) {
    const Job& job = cores_[index];
    causes_.emplace_back();
    Time start = job.lo;
    if (index > 0 && free_from_ > job.lo) {
      causes_[index].pushed = true;
      start = free_from_;
      if (start > job.hi) {
        report(index, cores_[index - 1].end(cores_[index - 1].lo) > job.hi, std::nullopt);
        causes_[index] = {};  // from here on as if this were the first: what follows stands on its own
        start = job.lo;
      }
    }
    free_from_ = job.end(make_room_for_points(index, start));
  }

  // A point that would lie strictly inside the job has to come before it, so the job has to wait for that instant.
  Time make_room_for_points(std::size_t index, Time start) {
    const Job& job = cores_[index];
    for (;;) {
      while (placed_ < points_.size() && points_[placed_].lo <= start) ++placed_;
      while (!open_.empty() && open_.top().second < placed_) open_.pop();
      if (open_.empty() || open_.top().first >= job.end(start)) return start;
      const std::size_t point = open_.top().second;
      open_.pop();
      if (points_[point].lo > job.hi) {
        report(index, points_[point].hi < job.end(job.lo), point);
        continue;  // without that point
      }
      start = points_[point].lo;
      causes_[index].points.push_back(point);
    }
  }

  void report(std::size_t index, bool pair_suffices, std::optional<std::size_t> point) {
    if (conflicts_.size() >= limit_) return;
    Conflict conflict;
    if (point) conflict.jobs.push_back(points_[*point]);
    conflict.jobs.push_back(cores_[index]);
    if (!pair_suffices) {
      add_causes(conflict, index);
    } else if (!point) {
      conflict.jobs.push_back(cores_[index - 1]);
    }
    std::ranges::reverse(conflict.jobs);
    conflicts_.push_back(std::move(conflict));
  }

  void add_causes(Conflict& conflict, std::size_t index) const {
    for (;; --index) {
      const Cause& cause = causes_[index];
      for (const std::size_t point : cause.points) conflict.jobs.push_back(points_[point]);
      // A point that lies inside the job wherever that starts needs no push from before to explain it.
      const Job& job = cores_[index];
      if (!cause.points.empty() && points_[cause.points.front()].hi < job.end(job.lo)) return;
      if (!cause.pushed) return;
      conflict.jobs.push_back(cores_[index - 1]);
    }
  }

  std::size_t limit_;
  std::vector<Job> cores_;
  std::vector<Job> points_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  std::size_t placed_ = 0;  // points before this lie at or before the last start
  Time free_from_ = Time::min();
  std::vector<Cause> causes_;
  std::vector<Conflict> conflicts_;
};

}  // namespace

std::vector<Conflict> lease_check(const std::vector<Job>& jobs, std::size_t limit) {
  return Placement(jobs, limit).run();
}

}  // namespace holdfast
