#include "checkers/objects/lease_mutex.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lease_schedule.h"
#include "checkers/objects/lock_cores.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/obligations.h"
#include "checkers/objects/owner_table.h"

namespace holdfast::objects {

namespace {

constexpr std::uint32_t kHoldsBetweenLooksAtTheClock = 1U << 14U;

class Leases {
 public:
  Leases(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits), groups_(group_holds(promise, operations)) {}

  Decision decide() {
    jobs_.reserve(groups_.size());
    for (std::uint32_t hold = 0; hold < groups_.size(); ++hold) {
      if (hold % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) return out_of_time();
      if (!add(hold)) return std::move(decision_);
    }
    const RefusalsOf refusals = [this](const Job& job) { return refusals_of(job); };
    const Schedule schedule = place_jobs(jobs_, refusals, limits_);
    switch (schedule.result) {
      case Schedule::Result::impossible:
        collide(schedule);
        return std::move(decision_);
      case Schedule::Result::stopped:
        decision_ = out_of_time();
        decision_.proven_until = schedule.from;
        return std::move(decision_);
      case Schedule::Result::too_many:
        decision_.answer = Answer::undecided;
        decision_.because = "too many acquires that took longer than their lease overlap";
        decision_.proven_until = schedule.from;
        return std::move(decision_);
      case Schedule::Result::placed:
        break;
    }
    const bool observed = std::ranges::any_of(
        operations_, [](const Operation& each) { return each.f == Call::acquire && each.refused(); });
    if (limits_.witness || observed) write(schedule, observed);
    return std::move(decision_);
  }

 private:
  [[nodiscard]] LeaseTerms terms(std::uint32_t hold) const {
    for (const std::uint32_t number : groups_.of(hold)) {
      if (operations_[number].f == Call::acquire) return lease_terms(promise_, operations_[number]);
    }
    return {};
  }

  bool add(std::uint32_t hold) {
    const auto members = groups_.of(hold);
    if (members.empty()) return true;
    const Reduced reduced = reduce_hold(operations_, members, terms(hold), hold);
    if (reduced.fault != HoldFault::none) {
      const bool by_process = promise_.identity != Identity::hold;
      if (by_process && process_used_what_it_had_lost(members)) return false;
      fail(fault_decision(reduced.fault, operations_, members), {hold});
      return false;
    }
    if (reduced.job.shape != Job::Shape::nothing) {
      jobs_.push_back(reduced.job);
    } else if (limits_.witness) {
      for (const std::uint32_t number : members) {  // what nobody held can be refused at any time
        if (operations_[number].refused()) places_.push_back({operations_[number].call, 0, number});
      }
    }
    return true;
  }

  // A process gave the lock back or was told that it does not hold it, and used it before it acquired again. Whenever
  // it had acquired it, these two contradict one another.
  bool process_used_what_it_had_lost(std::span<const std::uint32_t> members) {
    std::uint32_t lost = kNone;
    for (const std::uint32_t number : members) {
      const Operation& operation = operations_[number];
      if (operation.ok() && operation.f != Call::acquire && lost != kNone) {
        const HoldFault fault = operations_[lost].ok() ? HoldFault::released_twice : HoldFault::regained;
        decision_ = fault_decision(fault, operations_, members);
        set_core(decision_, {lost, number});
        return true;
      }
      if (operation.refused() || (operation.ok() && operation.f == Call::release)) lost = number;
    }
    return false;
  }

  [[nodiscard]] std::vector<std::pair<Instant, Instant>> refusals_of(const Job& job) const {
    std::vector<std::pair<Instant, Instant>> result;
    for (const std::uint32_t number : groups_.of(job.hold)) {
      const Operation& operation = operations_[number];
      if (operation.refused()) result.emplace_back(operation.call, operation.ret);
    }
    return result;
  }

  // A process whose acquire is not taken at its word could hold by an earlier one, with the lease of that.
  [[nodiscard]] std::vector<std::int64_t> shortest_leases(const Arena& arena) const {
    std::vector<std::int64_t> result;
    OwnerTable<Instant> shortest(promise_, operations_, kNever);
    std::uint32_t next = 0;
    for (const std::uint32_t number : arena.numbers) {
      for (; next <= number; ++next) {
        if (operations_[next].f != Call::acquire) continue;
        Instant& lease = shortest.of(operations_[next]);
        lease = std::min(lease, lease_terms(promise_, operations_[next]).least);
      }
      const bool acquires = operations_[number].f == Call::acquire;
      result.push_back(acquires ? shortest.of(operations_[number]) : operations_[number].argument);
    }
    return result;
  }

  void fail(Decision decision, std::vector<std::uint32_t> holds) {
    decision_ = std::move(decision);
    Arena arena = arena_of(operations_, groups_, std::move(holds));
    if (promise_.identity != Identity::hold) arena.weak_arguments = shortest_leases(arena);
    find_core(decision_, promise_, arena, decide_lease_mutex, limits_);
  }

  void collide(const Schedule& schedule) {
    std::vector<std::uint32_t> holds;
    Instant from = kNever;
    Instant to = std::numeric_limits<Instant>::min();
    for (const std::uint32_t number : schedule.culprits) {
      holds.push_back(jobs_[number].hold);
      from = std::min(from, jobs_[number].hi);
      to = std::max(to, jobs_[number].hi);
    }
    const bool pair = holds.size() == 2;
    fail(pair ? lock_violation("overlapping-holds", "both certainly held the lock at the same time", from, to)
              : lock_violation("impossible-grants",
                               "each of these leases pushes the next, and the last cannot begin in time", from, to),
         std::move(holds));
  }

  void write(const Schedule& schedule, bool observed) {
    places_.reserve(operations_.size());
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto members = groups_.of(jobs_[i].hold);
      place_hold(operations_, members, terms(jobs_[i].hold), jobs_[i], schedule.starts[i], places_);
    }
    if (observed && !place_observations(schedule)) {
      decision_ = {};
      decision_.answer = Answer::undecided;
      decision_.because = "an acquire was refused because somebody held the lock, and no rule says who";
      return;
    }
    if (limits_.witness) write_witness(places_, true, decision_);
  }

  // Each refused acquire goes to an instant at which somebody holds the lock as the holds are placed. Who was neither
  // released nor told that it lost the lock holds on until the next one comes or the lease must be over.
  bool place_observations(const Schedule& schedule) {
    struct Stay {
      Instant from;
      Instant to;
      std::uint32_t hold;
    };
    std::vector<Stay> stays;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      stays.push_back({schedule.starts[i], jobs_[i].end(schedule.starts[i]), static_cast<std::uint32_t>(i)});
    }
    std::ranges::sort(stays, {}, [](const Stay& stay) { return std::pair(stay.from, stay.to); });
    for (std::size_t i = 0; i < stays.size(); ++i) {
      const auto members = groups_.of(jobs_[stays[i].hold].hold);
      const HoldParts parts = parts_of(operations_, members);
      const bool free_to_stay = parts.release == kNone && parts.unknown_release == kNone && !parts.refusals;
      if (!free_to_stay || stays[i].from == stays[i].to) continue;
      const Instant refreshed = std::max(stays[i].from, parts.earliest_last_use);
      const Instant gone = later_by(refreshed, terms(jobs_[stays[i].hold].hold).greatest);
      const Instant next = i + 1 < stays.size() ? stays[i + 1].from : kNever;
      stays[i].to = std::max(stays[i].to, std::min(gone, next));
    }
    for (std::uint32_t number = 0; number < operations_.size(); ++number) {
      const Operation& operation = operations_[number];
      if (operation.f != Call::acquire || !operation.refused()) continue;
      bool explained = false;
      const auto after = std::ranges::upper_bound(stays, operation.ret, {}, &Stay::from);
      for (auto stay = after; stay != stays.begin() && !explained;) {
        --stay;
        if (stay->to < operation.call || stay->from == stay->to) continue;
        const Instant at = std::max(operation.call, stay->from);
        const std::uint32_t hold = jobs_[stay->hold].hold;
        places_.push_back(
            {at, at == stay->from ? rank_of(Phase::beginning, hold, 7) : rank_of(Phase::free, 0), number});
        explained = true;
      }
      if (!explained) return false;
    }
    return true;
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  HoldGroups groups_;
  std::vector<Job> jobs_;
  std::vector<Place> places_;
  Decision decision_;
};

}  // namespace

Decision decide_lease_mutex(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  if (!std::ranges::is_sorted(operations, {}, &Operation::call)) {
    throw std::invalid_argument("the operations of a history must be sorted by call");
  }
  if (promise.identity == Identity::hold) {
    if (const auto twice = repeated_acquire(promise, operations)) {
      throw std::invalid_argument("operation " + std::to_string(twice->second) +
                                  " acquires under the hold id of operation " + std::to_string(twice->first) +
                                  ": every attempt needs a fresh one");
    }
  }
  return Leases(promise, operations, limits).decide();
}

}  // namespace holdfast::objects
