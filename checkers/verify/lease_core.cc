// The core of a lease mutex: is there an order of its operations, with instants for them, that leases allow?
//
// A hold that was refreshed at instant v (granted or renewed) may be dropped by the service from v + L on, and is gone
// after v + U; L and U are the least and the greatest lease, and the argument of an acquire replaces L for its hold.
// For one order of operations and drops all this is a system of inequalities between two instants each (x >= y + w),
// solved by raising the instants from below until all hold or one is too late. All orders are tried, step by step; most
// fail at once, because time leaves no choice.
//
// Left out, because they never help the core: holds that have nothing in it (they are in the way of all others), unless
// somebody was told that the lock is taken; and renewals that nobody waited for, except to keep a hold from being
// dropped between two operations that prove it (`chain`): they go as late as possible, the earliest called first.
#include <algorithm>
#include <unordered_map>

#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::kNever;
using objects::kNone;
using objects::kNothing;

// Longer leases are as good as endless, and sums with them would not fit.
constexpr Instant kLongestLease = kNever / 8;
constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostOutsiders = 12;

// x[to] >= x[from] + by
struct Bound {
  std::size_t from;
  std::size_t to;
  Instant by;
};

// Instants in the order of what happens at them.
struct Schedule {
  std::vector<Instant> at;      // the earliest that is possible so far
  std::vector<Instant> latest;  // its own limit
  std::vector<Bound> bounds;

  std::size_t add(Instant earliest, Instant limit) {
    at.push_back(at.empty() ? earliest : std::max(at.back(), earliest));
    latest.push_back(limit);
    return at.size() - 1;
  }

  // False: no instants meet all bounds, with everything before `deadline`.
  bool settle(Instant deadline) {
    for (std::size_t round = 0; round <= at.size() + 1; ++round) {
      bool changed = false;
      for (std::size_t i = 1; i < at.size(); ++i) changed |= raise(i, at[i - 1]);
      for (const Bound& bound : bounds) changed |= raise(bound.to, at[bound.from] + bound.by);
      for (std::size_t i = 0; i < at.size(); ++i) {
        if (at[i] > latest[i]) return false;
      }
      if (at.back() > deadline) return false;
      if (!changed) return true;
    }
    return false;  // they push each other up for ever
  }

 private:
  bool raise(std::size_t number, Instant to) {
    if (at[number] >= to) return false;
    at[number] = to;
    return true;
  }
};

struct Situation {
  std::vector<std::uint32_t> places;  // by line
  std::uint32_t holder = kNone;
  std::size_t refreshed = 0;  // number of the instant
  Instant least = 0;          // lease of the hold
  std::map<std::uint32_t, std::size_t> renewals_used;
  Schedule schedule;
};

class LeaseSearch {
 public:
  LeaseSearch(const Promise& promise, std::vector<Line> lines, std::map<std::uint32_t, std::vector<Instant>> renewals)
      : promise_(promise), lines_(std::move(lines)), renewals_(std::move(renewals)) {}

  Possibility run() {
    Situation start{.places = std::vector<std::uint32_t>(lines_.size())};
    start.schedule.add(std::numeric_limits<Instant>::min() / 4, kNever);
    const bool possible = from(start);
    if (possible) return Possibility::possible;
    return nodes_ > kMostNodes ? Possibility::unclear : Possibility::impossible;
  }

 private:
  bool from(const Situation& situation) {
    if (++nodes_ > kMostNodes) return false;
    Instant deadline = kNever;
    bool due = false;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      for (std::size_t k = situation.places[i]; k < lines_[i].steps.size(); ++k) {
        const Operation& operation = lines_[i].steps[k].operation;
        if (operation.unknown()) continue;
        due = true;
        deadline = std::min(deadline, operation.ret);
      }
    }
    if (!due) return true;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::vector<Step>& steps = lines_[i].steps;
      bool on = true;
      for (std::uint32_t k = situation.places[i]; on && k < steps.size(); ++k) {
        on = steps[k].operation.unknown();
        if (steps[k].operation.call > deadline) continue;
        Situation next = situation;
        next.places[i] = k + 1;
        if (perform(std::move(next), steps[k].operation, deadline)) return true;
      }
    }
    return drop(situation, deadline);
  }

  bool settled(Situation& situation, Instant deadline) {
    return situation.schedule.settle(deadline) && from(situation);
  }

  // The service gives up on the hold. If nothing is acquired or denied after it, nobody needs that.
  bool drop(Situation situation, Instant deadline) {
    if (situation.holder == kNone || situation.least > kLongestLease) return false;
    const std::size_t now = situation.schedule.add(situation.schedule.at.back(), kNever);
    situation.schedule.bounds.push_back({.from = situation.refreshed, .to = now, .by = situation.least});
    situation.holder = kNone;
    return settled(situation, deadline);
  }

  bool perform(Situation situation, const Operation& operation, Instant deadline) {
    const std::uint32_t owner = owner_of(promise_, operation);
    const std::size_t now = situation.schedule.add(operation.call, operation.ret);
    if (operation.f == Call::acquire && !operation.refused()) {
      if (situation.holder != kNone) return false;
      situation.holder = owner;
      situation.refreshed = now;
      situation.least = operation.argument == kNothing ? promise_.lease_least : operation.argument;
      return settled(situation, deadline);
    }
    if (operation.refused() && operation.f != Call::acquire) {
      return situation.holder != owner && settled(situation, deadline);
    }
    // The rest proves that the lock is held: by its owner, or (a refused acquire) by anybody.
    if (situation.holder == kNone || (!operation.refused() && situation.holder != owner)) return false;
    const std::size_t refreshed = situation.refreshed;
    const std::uint32_t holder = situation.holder;
    if (operation.f == Call::renew) situation.refreshed = now;
    if (operation.f == Call::release) situation.holder = kNone;
    return chain(situation, holder, refreshed, now, operation, deadline);
  }

  // Not gone between two proofs: with k renewals in between the second comes at most (k + 1) * U after the first, and
  // the i-th of them must have been called by i * U after it. More than time demands are not used.
  bool chain(const Situation& situation, std::uint32_t holder, std::size_t first, std::size_t second,
             const Operation& operation, Instant deadline) {
    const Instant greatest = promise_.lease_greatest;
    if (greatest > kLongestLease) {
      Situation next = situation;
      return settled(next, deadline);
    }
    const auto found = renewals_.find(holder);
    const std::size_t there_are = found == renewals_.end() ? 0 : found->second.size();
    const auto used_place = situation.renewals_used.find(holder);
    const std::size_t used = used_place == situation.renewals_used.end() ? 0 : used_place->second;
    Instant earliest = std::numeric_limits<Instant>::min();
    for (std::size_t k = 0; used + k <= there_are; ++k) {
      const auto times = static_cast<Instant>(k);
      if (k > 0) earliest = std::max(earliest, found->second[used + k - 1] - times * greatest);
      Situation next = situation;
      next.renewals_used[holder] = used + k;
      if (k > 0) next.schedule.at[first] = std::max(next.schedule.at[first], earliest);
      next.schedule.bounds.push_back({.from = second, .to = first, .by = -(times + 1) * greatest});
      if (settled(next, deadline)) return true;
      // Longer than any of the two instants can be apart: one renewal more changes nothing.
      if (std::min(operation.ret, deadline) - situation.schedule.at[first] <= (times + 1) * greatest) break;
    }
    return false;
  }

  const Promise& promise_;
  std::vector<Line> lines_;
  std::map<std::uint32_t, std::vector<Instant>> renewals_;  // by owner: calls of those that nobody waited for
  std::size_t nodes_ = 0;
};

}  // namespace

Possibility place_leases(const Weakened& weakened) {
  const Promise& promise = weakened.promise;
  const bool ordered = has_ordered_sessions(promise);
  std::unordered_map<std::uint32_t, std::size_t> insiders;  // owner -> number of its line, in ordered sessions
  bool told_taken = false;
  weakened.for_each_in_core([&](const Operation& operation) {
    insiders.try_emplace(owner_of(promise, operation), insiders.size());
    told_taken |= operation.f == Call::acquire && operation.refused();
  });
  std::vector<Line> lines = ordered ? std::vector<Line>(insiders.size()) : core_lines(weakened);
  std::map<std::uint32_t, std::vector<Instant>> renewals;
  std::map<std::uint32_t, Line> outsiders;
  Classes classes(promise);
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    const std::uint32_t owner = owner_of(promise, operation);
    const auto found = insiders.find(owner);
    if (found == insiders.end() && !told_taken) return;
    if (operation.unknown() && operation.f == Call::renew) {
      renewals[owner].push_back(operation.call);
    } else if (found == insiders.end()) {
      outsiders[owner].steps.push_back({.operation = operation});
    } else if (ordered) {
      lines[found->second].steps.push_back({.operation = operation});
    } else if (operation.unknown()) {
      classes.add(operation, weakened.core_size + 1);
    }
  });
  classes.move_to(lines, kNoneEndless);
  const bool all = outsiders.size() <= kMostOutsiders;
  for (auto& each : outsiders) {
    if (lines.size() < insiders.size() * 4 + kMostOutsiders) lines.push_back(std::move(each.second));
  }
  // In an ordered session a renewal has its place among the others, which the chains leave out: that finds more
  // possible than there is.
  const bool exact = !ordered || renewals.empty() || promise.lease_greatest > kLongestLease;
  const Possibility answer = LeaseSearch(promise, std::move(lines), std::move(renewals)).run();
  if ((answer == Possibility::possible && !exact) || (answer == Possibility::impossible && !all)) {
    return Possibility::unclear;
  }
  return answer;
}

}  // namespace holdfast::verify
