#include "checkers/objects/hold_jobs.h"

#include <limits>

namespace holdfast::objects {

namespace {

constexpr Instant kBegin = std::numeric_limits<Instant>::min();

// Numbers owners 0, 1, …: as they are when that is dense enough for a table, by rank otherwise.
class Owners {
 public:
  template <typename OwnerOf>
  Owners(Operations operations, OwnerOf&& owner_of) {
    std::uint32_t greatest = 0;
    for (const Operation& operation : operations) greatest = std::max(greatest, owner_of(operation));
    dense_ = greatest < operations.size() * 4 + 64;
    size_ = greatest + std::size_t{1};
    if (dense_) return;
    ids_.reserve(operations.size());
    for (const Operation& operation : operations) ids_.push_back(owner_of(operation));
    std::ranges::sort(ids_);
    ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
    size_ = ids_.size();
  }
  [[nodiscard]] std::uint32_t number(std::uint32_t owner) const {
    if (dense_) return owner;
    return static_cast<std::uint32_t>(std::ranges::lower_bound(ids_, owner) - ids_.begin());
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  bool dense_ = true;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> ids_;
};

bool only_observes(const Promise& promise, const Operation& operation) {
  return promise.kind != Kind::fair_mutex && operation.f == Call::acquire && operation.refused();
}

// The hold of each operation; kNone: it speaks of none.
std::vector<std::uint32_t> number_holds(const Promise& promise, Operations operations, std::size_t& count) {
  std::vector<std::uint32_t> holds(operations.size(), kNone);
  if (promise.identity == Identity::hold) {
    const Owners owners(operations, [](const Operation& operation) { return operation.hold; });
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (!only_observes(promise, operations[i])) holds[i] = owners.number(operations[i].hold);
    }
    count = owners.size();
    return holds;
  }
  const Owners owners(operations, [](const Operation& operation) { return operation.process; });
  std::vector<std::uint32_t> current(owners.size(), kNone);
  const Call begins = promise.kind == Kind::fair_mutex ? Call::ticket : Call::acquire;
  count = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (only_observes(promise, operations[i])) continue;
    std::uint32_t& hold = current[owners.number(operations[i].process)];
    if (hold == kNone || operations[i].f == begins) hold = static_cast<std::uint32_t>(count++);
    holds[i] = hold;
  }
  return holds;
}

bool is_use(const Operation& operation) {
  return operation.ok() && (operation.f == Call::renew || operation.f == Call::release);
}

bool is_refusal(const Operation& operation) {
  return operation.refused() && (operation.f == Call::renew || operation.f == Call::release);
}

// What the refusals of a hold ask for.
struct Refusals {
  Instant over_by = kNever;          // the hold is over by then
  bool regained = false;             // one lies certainly between two uses
  std::vector<std::uint32_t> loose;  // may come before the grant as well as after the end
};

Refusals read_refusals(Operations operations, std::span<const std::uint32_t> members, const HoldParts& parts) {
  Refusals result;
  for (const std::uint32_t refusal : members) {
    if (!is_refusal(operations[refusal])) continue;
    bool after_grant =
        parts.acquire != kNone && operations[parts.acquire].ok() && precedes(operations, parts.acquire, refusal);
    bool before_use = false;
    for (const std::uint32_t use : members) {
      if (!is_use(operations[use])) continue;
      after_grant = after_grant || precedes(operations, use, refusal);
      before_use = before_use || precedes(operations, refusal, use);
    }
    result.regained = result.regained || (after_grant && before_use);
    if (after_grant) {
      result.over_by = std::min(result.over_by, operations[refusal].ret);
    } else if (!before_use) {
      result.loose.push_back(refusal);
    }
  }
  return result;
}

// The renewals keep the lease alive up to the last use: each comes at most lease.greatest after the one before, and
// unknown ones can help out. Renewing as late as possible is best. `visit(number, instant)` hears when each refresh is.
template <typename Visit>
bool lives_until_last_use(Operations operations, std::span<const std::uint32_t> members, const LeaseTerms& lease,
                          Instant start, Visit&& visit) {
  std::vector<std::uint32_t> uses;
  std::vector<std::uint32_t> spare;
  for (const std::uint32_t number : members) {
    if (is_use(operations[number])) uses.push_back(number);
    if (operations[number].f == Call::renew && operations[number].unknown()) spare.push_back(number);
  }
  std::ranges::stable_sort(uses, {}, [&](std::uint32_t number) {
    return std::pair(operations[number].f == Call::release, operations[number].call);
  });
  std::size_t next_spare = 0;
  Instant refreshed = start;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Operation& use = operations[uses[i]];
    while (use.call > later_by(refreshed, lease.greatest)) {
      const Instant limit = later_by(refreshed, lease.greatest);
      if (next_spare == spare.size() || operations[spare[next_spare]].call > limit) return false;
      visit(spare[next_spare++], limit);
      refreshed = limit;
    }
    const bool last = i + 1 == uses.size();
    refreshed = last ? std::max(refreshed, use.call) : std::min(use.ret, later_by(refreshed, lease.greatest));
    visit(uses[i], refreshed);
  }
  return true;
}

Job stretch(Instant from, Instant to, std::uint32_t hold) {
  return {.lo = from, .hi = from, .length = kNever, .cap = to, .hold = hold, .shape = Job::Shape::stretch};
}

Job point(Instant from, Instant to, std::uint32_t hold) {
  return {.lo = from, .hi = to, .length = 0, .cap = kNever, .hold = hold, .shape = Job::Shape::point};
}

// All uses can fall on one instant, so that the lease begins and was last refreshed at the same time.
Reduced reduce_slide(Operations operations, const HoldParts& parts, const Refusals& refusals, const LeaseTerms& lease,
                     Instant cap, std::uint32_t hold) {
  Job job{.lo = parts.earliest_last_use,
          .hi = parts.latest_start,
          .length = lease.least,
          .cap = cap,
          .hold = hold,
          .shape = Job::Shape::stretch};
  if (cap <= job.lo) return {.job = point(job.lo, job.hi, hold)};
  if (cap > refusals.over_by) {  // no release can explain the loss: the lease must have ended by then
    if (job.length == kNever || refusals.over_by - job.length < job.lo)
      return {.job = {}, .fault = HoldFault::lost_early};
    job.hi = std::min(job.hi, refusals.over_by - job.length);
  }
  if (job.length == kNever || cap <= job.lo + job.length) {  // the end does not depend on the start
    return {.job = job.hi < cap ? stretch(job.hi, cap, hold) : point(cap, job.hi, hold)};
  }
  for (const std::uint32_t refusal : refusals.loose) {
    const Operation& operation = operations[refusal];
    job.start_has_gap = job.start_has_gap || (operation.call > job.lo && job.end(operation.call - 1) > operation.ret);
  }
  return {.job = job};
}

}  // namespace

HoldGroups group_holds(const Promise& promise, Operations operations) {
  std::size_t count = 0;
  const std::vector<std::uint32_t> hold = number_holds(promise, operations, count);
  HoldGroups result;
  result.first.assign(count + 2, 0);
  for (const std::uint32_t each : hold) {
    if (each != kNone) ++result.first[each + 2];
  }
  for (std::size_t i = 2; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.member.resize(result.first.back());
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (hold[i] != kNone) result.member[result.first[hold[i] + 1]++] = i;
  }
  result.first.pop_back();
  return result;
}

LeaseTerms lease_terms(const Promise& promise, const Operation& acquire) {
  if (promise.kind != Kind::lease_mutex) return {};
  const Instant least = acquire.argument == kNothing ? promise.lease_least : acquire.argument;
  return {.least = least, .greatest = std::max(least, promise.lease_greatest)};
}

HoldParts parts_of(Operations operations, std::span<const std::uint32_t> hold) {
  HoldParts parts;
  parts.earliest_last_use = kBegin;
  const auto use = [&parts](const Operation& operation) {
    parts.latest_start = std::min(parts.latest_start, operation.ret);
    parts.earliest_last_use = std::max(parts.earliest_last_use, operation.call);
  };
  for (const std::uint32_t number : hold) {
    const Operation& operation = operations[number];
    switch (operation.f) {
      case Call::acquire:
        if (operation.refused()) break;
        if (parts.acquire == kNone) parts.acquire = number;
        use(operation);
        break;
      case Call::release:
        if (operation.unknown() &&
            (parts.unknown_release == kNone || operations[parts.unknown_release].call > operation.call)) {
          parts.unknown_release = number;
        }
        if (operation.ok() && parts.releases++ == 0) parts.release = number;
        break;
      case Call::renew:
        parts.unknown_renewals = parts.unknown_renewals || operation.unknown();
        break;
      default:
        break;
    }
    if (is_use(operation)) {
      use(operation);
      ++parts.uses;
    }
    parts.refusals = parts.refusals || is_refusal(operation);
  }
  return parts;
}

Reduced reduce_hold(Operations operations, std::span<const std::uint32_t> members, const LeaseTerms& lease,
                    std::uint32_t hold) {
  const HoldParts parts = parts_of(operations, members);
  const bool granted = parts.acquire != kNone && operations[parts.acquire].ok();
  if (!granted && parts.uses == 0) return {};
  if (parts.acquire == kNone) return {.job = {}, .fault = HoldFault::never_acquired};
  if (parts.releases > 1) return {.job = {}, .fault = HoldFault::released_twice};
  if (parts.uses > 0) {
    for (const std::uint32_t use : members) {
      if (!is_use(operations[use])) continue;
      const bool early =
          granted ? precedes(operations, use, parts.acquire) : operations[use].ret < operations[parts.acquire].call;
      if (early) return {.job = {}, .fault = HoldFault::never_acquired};
      if (parts.release != kNone && precedes(operations, parts.release, use)) {
        return {.job = {}, .fault = HoldFault::released_twice};
      }
    }
  }
  const Refusals refusals = parts.refusals ? read_refusals(operations, members, parts) : Refusals{};
  if (refusals.regained) return {.job = {}, .fault = HoldFault::regained};

  const Instant start = parts.latest_start;
  const Instant last = parts.earliest_last_use;
  const bool apart = start < last;
  if (apart && lease.greatest != kNever &&
      !lives_until_last_use(operations, members, lease, start, [](std::uint32_t, Instant) {})) {
    return {.job = {}, .fault = HoldFault::outlived};
  }
  if (parts.release != kNone) return {.job = apart ? stretch(start, last, hold) : point(last, start, hold)};
  const Instant cap = parts.unknown_release == kNone ? kNever : operations[parts.unknown_release].call;
  if (!apart) return reduce_slide(operations, parts, refusals, lease, cap, hold);
  const Instant end = std::min(std::max(cap, last), later_by(last, lease.least));
  if (end > refusals.over_by) return {.job = {}, .fault = HoldFault::lost_early};
  return {.job = stretch(start, end, hold)};
}

void place_hold(Operations operations, std::span<const std::uint32_t> members, const LeaseTerms& lease, const Job& job,
                Instant start, std::vector<Place>& places) {
  enum Rank : std::uint64_t { before, grant, used, given_back, after };
  const Instant end = job.end(start);
  const auto put = [&](std::uint32_t number, Instant at, Rank rank) {
    Phase phase = Phase::instantaneous;
    if (start < end && rank != before && rank != after) phase = at == start ? Phase::beginning : Phase::ending;
    places.push_back({.at = at, .rank = rank_of(phase, job.hold, rank), .operation = number});
  };
  const HoldParts parts = parts_of(operations, members);
  put(parts.acquire, start, grant);
  const bool chained = lease.greatest != kNever && parts.latest_start < parts.earliest_last_use;
  const auto put_use = [&](std::uint32_t number, Instant at) {
    put(number, at, operations[number].f == Call::release ? given_back : used);
  };
  Instant refreshed = start;
  if (chained) {
    lives_until_last_use(operations, members, lease, start, [&](std::uint32_t number, Instant at) {
      put_use(number, at);
      refreshed = std::max(refreshed, at);
    });
  }
  for (const std::uint32_t number : members) {
    const Operation& operation = operations[number];
    if (is_use(operation) && !chained) {
      const Instant at =
          operation.f == Call::release ? std::max(start, parts.earliest_last_use) : std::max(start, operation.call);
      refreshed = std::max(refreshed, at);
      put_use(number, at);
    } else if (is_refusal(operation)) {
      bool after_grant = operations[parts.acquire].ok() && precedes(operations, parts.acquire, number);
      for (const std::uint32_t use : members) {
        after_grant = after_grant || (is_use(operations[use]) && precedes(operations, use, number));
      }
      if (!after_grant && operation.call <= start) {
        put(number, std::min(operation.ret, start), before);
      } else {
        put(number, std::max(operation.call, end), after);
      }
    }
  }
  if (parts.release == kNone && parts.unknown_release != kNone && end < later_by(refreshed, lease.least)) {
    put(parts.unknown_release, end, given_back);
  }
}

void write_witness(std::vector<Place>& places, bool instants, Decision& decision) {
  std::ranges::sort(places, std::less<>());
  decision.witness.reserve(places.size());
  if (instants) decision.instants.reserve(places.size());
  for (const Place& place : places) {
    decision.witness.push_back(place.operation);
    if (instants) decision.instants.push_back(place.at);
  }
}

}  // namespace holdfast::objects
