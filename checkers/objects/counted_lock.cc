#include "checkers/objects/counted_lock.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lock_cores.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/obligations.h"

namespace holdfast::objects {

namespace {

constexpr std::uint32_t kHoldsBetweenLooksAtTheClock = 1U << 14U;

struct Stay {  // a core, or a point
  Instant from = 0;
  Instant to = 0;
  std::int64_t weight = 0;
  std::uint32_t hold = 0;
};

std::int64_t permits_of(const Operation& operation) {
  return operation.argument == kNothing ? 1 : operation.argument;
}

class Counting {
 public:
  Counting(const CountedLock& lock, const Promise& promise, Operations operations, const Limits& limits)
      : lock_(lock), promise_(promise), operations_(operations), limits_(limits) {}

  Decision decide() {
    if (promise_.identity != Identity::hold) {
      if (const auto twice = repeated_acquire(promise_, operations_)) {
        decision_ = lock_violation("acquired-twice", "the process acquired again without having given anything back",
                                   operations_[twice->first].call, operations_[twice->second].ret);
        set_core(decision_, {twice->first, twice->second});
        return std::move(decision_);
      }
    }
    holds_ = group_holds(promise_, operations_);
    cores_.reserve(holds_.size());
    if (limits_.witness) places_.reserve(operations_.size());
    for (std::uint32_t hold = 0; hold < holds_.size(); ++hold) {
      if (hold % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) return out_of_time();
      if (!add(hold)) return std::move(decision_);
    }
    if (!cores_fit() || !points_fit()) return std::move(decision_);
    if (limits_.witness) write_witness(places_, false, decision_);
    return std::move(decision_);
  }

 private:
  void fail(Decision decision, std::vector<std::uint32_t> holds) {
    decision_ = std::move(decision);
    const auto decider = [this](const Promise& promise, Operations operations, const Limits& limits) {
      return again(promise, operations, limits);
    };
    if (promise_.kind == Kind::semaphore && promise_.identity != Identity::hold && holds.size() == 1) {
      return find_core_as(decision_, promise_, arena_of(operations_, holds_, up_to(holds.front())), search, limits_);
    }
    find_core(decision_, promise_, arena_of(operations_, holds_, std::move(holds)), decider, limits_);
  }

  // A hold and the earlier ones of its process. Once weakened those need not have been given back, and their permits
  // may explain what this one's do not.
  [[nodiscard]] std::vector<std::uint32_t> up_to(std::uint32_t last) const {
    const std::uint32_t end = holds_.of(last).front();
    std::vector<std::uint32_t> result;
    for (std::uint32_t hold = 0; hold < holds_.size(); ++hold) {
      const auto members = holds_.of(hold);
      if (members.empty() || members.front() > end) continue;
      if (operations_[members.front()].process == operations_[end].process) result.push_back(hold);
    }
    return result;
  }

  Decision again(const Promise& promise, Operations operations, const Limits& limits) const {
    return lock_.covers != nullptr && !lock_.covers(promise, operations)
               ? search(promise, operations, limits)
               : decide_counted(lock_, promise, operations, limits);
  }

  bool add(std::uint32_t hold) {
    const auto members = holds_.of(hold);
    if (members.empty()) return true;
    if (gives_back_in_parts(members)) return add_parts(hold, members);
    const Reduced reduced = reduce_hold(operations_, members, {}, hold);
    if (reduced.fault != HoldFault::none) {
      fail(fault_decision(reduced.fault, operations_, members), {hold});
      return false;
    }
    if (reduced.job.shape == Job::Shape::nothing) return place_refusals(members);
    const std::uint32_t acquire = parts_of(operations_, members).acquire;
    const std::int64_t weight = lock_.weight(lock_, operations_[acquire]);
    if (weight > lock_.capacity) {
      fail(lock_violation("more-than-there-is", "it took more permits than there are", operations_[acquire].call,
                          operations_[members.back()].call),
           {hold});
      return false;
    }
    if (reduced.job.shape == Job::Shape::point) {
      points_.push_back({reduced.job.lo, reduced.job.hi, weight, hold});
      return true;
    }
    cores_.push_back({reduced.job.hi, reduced.job.core_end(), weight, hold});
    if (limits_.witness) place_hold(operations_, members, {}, reduced.job, reduced.job.hi, places_);
    return true;
  }

  // What nobody held can be refused at any time.
  bool place_refusals(std::span<const std::uint32_t> members) {
    if (!limits_.witness) return true;
    for (const std::uint32_t number : members) {
      if (operations_[number].refused()) places_.push_back({operations_[number].call, 0, number});
    }
    return true;
  }

  bool gives_back_in_parts(std::span<const std::uint32_t> members) const {
    if (promise_.kind != Kind::semaphore) return false;
    std::int64_t weight = 0;
    for (const std::uint32_t number : members) {
      const Operation& operation = operations_[number];
      if (operation.f == Call::acquire) weight = permits_of(operation);
      if (weight > 0 && operation.f == Call::release && !operation.refused() && permits_of(operation) != weight)
        return true;
    }
    return false;
  }

  // One ok acquire and ok releases, one after the other: as many holds as there are releases, granted together.
  bool add_parts(std::uint32_t hold, std::span<const std::uint32_t> members) {
    const Operation& acquire = operations_[members.front()];
    std::int64_t left = permits_of(acquire);
    if (left > lock_.capacity) {
      fail(lock_violation("more-than-there-is", "it took more permits than there are", acquire.call, acquire.ret),
           {hold});
      return false;
    }
    if (limits_.witness) place_part(members.front(), acquire.ret, hold);
    for (const std::uint32_t number : members.subspan(1)) {
      const Operation& release = operations_[number];
      left -= permits_of(release);
      if (left < 0) {
        fail(lock_violation("released-too-much", "more was given back than was taken", acquire.call, release.ret),
             {hold});
        return false;
      }
      cores_.push_back({acquire.ret, release.call, permits_of(release), hold});
      if (limits_.witness) place_part(number, release.call, hold);
    }
    if (left > 0) cores_.push_back({acquire.ret, kNever, left, hold});
    return true;
  }
  void place_part(std::uint32_t number, Instant at, std::uint32_t hold) {
    const bool acquires = operations_[number].f == Call::acquire;
    places_.push_back({at, rank_of(acquires ? Phase::beginning : Phase::ending, hold), number});
  }

  // The sum over all cores between the instants at which it changes, and at them: there only what goes on counts.
  bool cores_fit() {
    struct Change {
      Instant at;
      std::int64_t by;
    };
    std::vector<Change> changes;
    changes.reserve(cores_.size() * 2);
    for (const Stay& core : cores_) {
      changes.push_back({core.from, core.weight});
      if (core.to != kNever) changes.push_back({core.to, -core.weight});
    }
    std::ranges::sort(changes, {}, [](const Change& change) { return std::pair(change.at, change.by); });
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < changes.size();) {
      const Instant at = changes[i].at;
      for (; i < changes.size() && changes[i].at == at && changes[i].by < 0; ++i) sum += changes[i].by;
      if (!points_.empty()) at_.push_back({at, sum});
      for (; i < changes.size() && changes[i].at == at; ++i) sum += changes[i].by;
      if (!points_.empty()) at_.back().after = sum;
      if (sum > lock_.capacity) {
        overfull(at);
        return false;
      }
    }
    return true;
  }

  // Those that hold most first: as soon as they are too many, each of them is needed. What is weakened of them are the
  // releases, and those still come no earlier than they were called.
  void overfull(Instant at) {
    std::map<std::uint32_t, std::int64_t> weights;
    Instant until = kNever;
    for (const Stay& core : cores_) {
      if (core.from > at || core.to <= at) continue;
      weights[core.hold] += core.weight;
      until = std::min(until, core.to);
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> heaviest;
    for (const auto& [hold, weight] : weights) heaviest.emplace_back(weight, hold);
    std::ranges::sort(heaviest, std::greater<>());
    std::vector<std::uint32_t> core;
    std::vector<std::uint32_t> holds;
    std::int64_t sum = 0;
    bool other_releases = false;  // without the known release an unknown one could have ended the hold earlier
    for (const auto& [weight, hold] : heaviest) {
      if (sum > lock_.capacity) break;
      sum += weight;
      const HoldParts parts = parts_of(operations_, holds_.of(hold));
      core.push_back(parts.acquire);
      holds.push_back(hold);
      other_releases = other_releases || (parts.release != kNone && parts.unknown_release != kNone);
    }
    Decision decision = lock_violation("overlapping-holds", lock_.overfull, at, until);
    if (other_releases) return fail(std::move(decision), std::move(holds));
    decision_ = std::move(decision);
    set_core(decision_, std::move(core));
  }

  // Each point goes where the least is held. Windows are asked in the order of their ends, so that a stack of minima
  // answers each by bisection.
  bool points_fit() {
    std::ranges::sort(points_, {}, &Stay::to);
    std::vector<std::uint32_t> minima;  // positions in at_; their sums increase
    std::size_t next = 0;
    std::size_t looked = 0;
    for (const Stay& point : points_) {
      if (++looked % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) {
        decision_ = out_of_time();
        return false;
      }
      for (; next < at_.size() && at_[next].at <= point.to; ++next) {
        while (!minima.empty() && at_[minima.back()].sum >= at_[next].sum) minima.pop_back();
        minima.push_back(static_cast<std::uint32_t>(next));
      }
      // Between two changes: what the last one before left.
      const auto after = std::ranges::lower_bound(at_, point.from, {}, &Level::at) - at_.begin();
      Instant best = point.from;
      std::int64_t least = after == 0 ? 0 : at_[static_cast<std::size_t>(after) - 1].after;
      const auto found = std::ranges::lower_bound(minima, static_cast<std::uint32_t>(after));
      if (found != minima.end() && at_[*found].sum <= least) {
        least = at_[*found].sum;
        best = at_[*found].at;
      }
      if (least + point.weight > lock_.capacity) {
        blocked(point);
        return false;
      }
      if (!limits_.witness) continue;
      const Job job{
          .lo = point.from, .hi = point.to, .length = 0, .cap = kNever, .hold = point.hold, .shape = Job::Shape::point};
      place_hold(operations_, holds_.of(point.hold), {}, job, best, places_);
    }
    return true;
  }

  void blocked(const Stay& point) {
    std::vector<std::uint32_t> holds{point.hold};
    for (const Stay& core : cores_) {
      if (core.from < point.to && core.to > point.from) holds.push_back(core.hold);
    }
    fail(lock_violation("no-room", lock_.no_room, point.from, point.to), std::move(holds));
  }

  struct Level {
    Instant at = 0;
    std::int64_t sum = 0;    // at this instant
    std::int64_t after = 0;  // from here to the next
  };

  const CountedLock& lock_;
  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  HoldGroups holds_;
  std::vector<Stay> cores_;
  std::vector<Stay> points_;
  std::vector<Level> at_;
  std::vector<Place> places_;
  Decision decision_;
};

}  // namespace

Decision decide_counted(const CountedLock& lock, const Promise& promise, Operations operations, const Limits& limits) {
  return Counting(lock, promise, operations, limits).decide();
}

}  // namespace holdfast::objects
