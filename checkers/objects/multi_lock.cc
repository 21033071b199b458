#include "checkers/objects/multi_lock.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lock_cores.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/lock_segments.h"
#include "checkers/objects/obligations.h"

namespace holdfast::objects {

namespace {

constexpr std::uint32_t kHoldsBetweenLooksAtTheClock = 1U << 14U;

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits);

struct Core {
  Instant from = 0;
  Instant to = 0;
  std::uint32_t hold = 0;
  std::uint32_t set = 0;
};

class MultiLock {
 public:
  MultiLock(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits) {
    number_locks();
  }

  Decision decide() {
    if (promise_.identity != Identity::hold) {
      if (const auto twice = repeated_acquire(promise_, operations_)) {
        decision_ = lock_violation("acquired-twice", "the process acquired again without having given anything back",
                                   operations_[twice->first].call, operations_[twice->second].ret);
        set_core(decision_, {twice->first, twice->second});
        return std::move(decision_);
      }
    }
    groups_ = group_holds(promise_, operations_);
    if (limits_.witness) places_.reserve(operations_.size());
    for (std::uint32_t hold = 0; hold < groups_.size(); ++hold) {
      if (hold % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) return out_of_time();
      if (!add(hold)) return std::move(decision_);
    }
    if (!cores_are_disjoint() || !points_fit()) return std::move(decision_);
    if (limits_.witness) write_witness(places_, false, decision_);
    return std::move(decision_);
  }

 private:
  // The sets of the promise with the locks numbered 0, 1, …, each lock once.
  void number_locks() {
    std::vector<std::int64_t> names;
    for (const auto& set : promise_.sets) names.insert(names.end(), set.begin(), set.end());
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (const auto& set : promise_.sets) {
      std::vector<std::uint32_t>& locks = sets_.emplace_back();
      for (const std::int64_t name : set) {
        locks.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(names, name) - names.begin()));
      }
      std::ranges::sort(locks);
      locks.erase(std::ranges::unique(locks).begin(), locks.end());
    }
    of_lock_.resize(names.size());
  }

  void fail(Decision decision, std::vector<std::uint32_t> holds) {
    decision_ = std::move(decision);
    find_core(decision_, promise_, arena_of(operations_, groups_, std::move(holds)), decide_plain, limits_);
  }

  bool add(std::uint32_t hold) {
    const auto members = groups_.of(hold);
    if (members.empty()) return true;
    const Reduced reduced = reduce_hold(operations_, members, {}, hold);
    if (reduced.fault != HoldFault::none) {
      fail(fault_decision(reduced.fault, operations_, members), {hold});
      return false;
    }
    const Job& job = reduced.job;
    if (job.shape == Job::Shape::nothing) {
      for (const std::uint32_t number : members) {  // what nobody held can be refused at any time
        if (operations_[number].refused()) places_.push_back({operations_[number].call, 0, number});
      }
      return true;
    }
    const Operation& acquire = operations_[parts_of(operations_, members).acquire];
    const auto set = static_cast<std::uint32_t>(acquire.argument);
    if (job.shape == Job::Shape::point) {
      points_.push_back({job.lo, job.hi, hold, set});
      return true;
    }
    cores_.push_back({job.hi, job.core_end(), hold, set});
    if (limits_.witness) place_hold(operations_, members, {}, job, job.hi, places_);
    return true;
  }

  bool cores_are_disjoint() {
    std::ranges::sort(cores_, {}, &Core::from);
    for (std::uint32_t i = 0; i < cores_.size(); ++i) {
      for (const std::uint32_t lock : sets_[cores_[i].set]) {
        std::vector<std::uint32_t>& earlier = of_lock_[lock];
        if (!earlier.empty() && cores_[earlier.back()].to > cores_[i].from) {
          overlap(cores_[earlier.back()], cores_[i]);
          return false;
        }
        earlier.push_back(i);
      }
    }
    return true;
  }

  void overlap(const Core& one, const Core& other) {
    Decision decision = lock_violation("overlapping-holds", "these holds certainly overlap, and they share a lock",
                                       other.from, std::min(one.to, other.to));
    const HoldParts first = parts_of(operations_, groups_.of(one.hold));
    const HoldParts second = parts_of(operations_, groups_.of(other.hold));
    const auto other_releases = [](const HoldParts& parts) {  // could have ended the hold earlier than the known one
      return parts.release != kNone && parts.unknown_release != kNone;
    };
    if (other_releases(first) || other_releases(second)) return fail(std::move(decision), {one.hold, other.hold});
    decision_ = std::move(decision);
    set_core(decision_, {first.acquire, second.acquire});
  }

  // The core of this lock that lies around the instant.
  [[nodiscard]] const Core* around(std::uint32_t lock, Instant at) const {
    const std::vector<std::uint32_t>& cores = of_lock_[lock];
    const auto after = std::ranges::lower_bound(cores, at, {}, [this](std::uint32_t i) { return cores_[i].from; });
    if (after == cores.begin()) return nullptr;
    const Core& before = cores_[*std::prev(after)];
    return before.to > at ? &before : nullptr;
  }

  bool points_fit() {
    std::size_t looked = 0;
    for (const Core& point : points_) {
      std::vector<std::uint32_t> in_the_way{point.hold};
      Instant at = point.from;
      const std::vector<std::uint32_t>& locks = sets_[point.set];
      for (std::size_t free = 0, i = 0; free < locks.size() && at <= point.to; i = (i + 1) % locks.size()) {
        if (++looked % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) {
          decision_ = out_of_time();
          return false;
        }
        const Core* const core = around(locks[i], at);
        ++free;
        if (core == nullptr) continue;
        at = core->to;
        in_the_way.push_back(core->hold);
        free = 1;  // this lock is free now, the others have to be looked at again
      }
      if (at > point.to) {
        fail(lock_violation("no-room",
                            "one of these must have held its locks at some instant, and the others certainly held one "
                            "of them all the time",
                            point.from, point.to),
             std::move(in_the_way));
        return false;
      }
      if (!limits_.witness) continue;
      const Job job{
          .lo = point.from, .hi = point.to, .length = 0, .cap = kNever, .hold = point.hold, .shape = Job::Shape::point};
      place_hold(operations_, groups_.of(point.hold), {}, job, at, places_);
    }
    return true;
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  HoldGroups groups_;
  std::vector<std::vector<std::uint32_t>> sets_;
  std::vector<std::vector<std::uint32_t>> of_lock_;  // its cores in time order
  std::vector<Core> cores_;
  std::vector<Core> points_;
  std::vector<Place> places_;
  Decision decision_;
};

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits) {
  return MultiLock(promise, operations, limits).decide();
}

}  // namespace

Decision decide_multi_lock(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool known =
        operations[i].f != Call::acquire ||
        (operations[i].argument >= 0 && static_cast<std::size_t>(operations[i].argument) < promise.sets.size());
    if (!known) refuse_operation(promise, i, operations[i]);
  }
  const auto covers = [](const Promise& of, Operations some) {
    return is_plain(of, some) && (of.identity != Identity::hold || !repeated_acquire(of, some));
  };
  return decide_by_segments(promise, operations, limits, covers, decide_plain);
}

}  // namespace holdfast::objects
