#include "checkers/objects/fair_mutex.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lock_cores.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/lock_segments.h"
#include "checkers/objects/obligations.h"
#include "checkers/objects/owner_table.h"

namespace holdfast::objects {

namespace {

constexpr Instant kBegin = std::numeric_limits<Instant>::min();
constexpr std::uint32_t kHoldsBetweenLooksAtTheClock = 1U << 14U;

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits);

// One who stood in the queue.
struct Waiter {
  enum class Fate : std::uint8_t { granted, left, waiting };
  Instant ticket_from = 0;
  Instant ticket_to = 0;
  Instant over = 0;   // at the earliest it is out of the way of those behind it
  Instant begin = 0;  // at the latest it is granted
  Job job;
  std::uint32_t hold = 0;
  std::uint32_t ticket = kNone;
  std::uint32_t acquire = kNone;
  Fate fate = Fate::granted;
};

struct FairParts {
  std::uint32_t ticket = kNone;
  std::uint32_t acquire = kNone;
  std::uint32_t tickets = 0;
  std::uint32_t acquires = 0;
};

FairParts fair_parts(Operations operations, std::span<const std::uint32_t> members) {
  FairParts parts;
  for (const std::uint32_t number : members) {
    if (operations[number].f == Call::ticket && parts.tickets++ == 0) parts.ticket = number;
    if (operations[number].f == Call::acquire && parts.acquires++ == 0) parts.acquire = number;
  }
  return parts;
}

class FairLock {
 public:
  FairLock(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits) {}

  Decision decide() {
    groups_ = group_holds(promise_, operations_);
    if (limits_.witness) places_.reserve(operations_.size());
    for (std::uint32_t hold = 0; hold < groups_.size(); ++hold) {
      if (hold % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) return out_of_time();
      if (!add(hold)) return std::move(decision_);
    }
    if (!line_up()) return std::move(decision_);
    if (limits_.witness) {
      place_all();
      write_witness(places_, false, decision_);
    }
    return std::move(decision_);
  }

 private:
  void fail(Decision decision, const std::vector<std::uint32_t>& holds) {
    decision_ = std::move(decision);
    if (promise_.identity == Identity::hold) {
      return find_core(decision_, promise_, arena_of(operations_, groups_, holds), decide_plain, limits_);
    }
    // A ticket that is not taken at its word can serve a later acquire of its process: all that the processes did
    // matters. Where that is much, the core is true but not made minimal.
    constexpr std::size_t kMostToMinimize = 200;
    const Arena arena = processes_of(holds);
    Limits limits = limits_;
    limits.minimal_core = limits.minimal_core && arena.operations.size() <= kMostToMinimize;
    find_core_as(decision_, promise_, arena, search, limits);
  }

  // All operations of the processes of these holds up to the last of them.
  [[nodiscard]] Arena processes_of(const std::vector<std::uint32_t>& holds) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> last;  // process, its last operation
    for (const std::uint32_t hold : holds) {
      const std::uint32_t number = groups_.of(hold).back();
      last.emplace_back(operations_[number].process, number);
    }
    Arena result;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const bool chosen = std::ranges::any_of(
          last, [&](const auto& each) { return operations_[i].process == each.first && i <= each.second; });
      if (!chosen) continue;
      result.operations.push_back(operations_[i]);
      result.numbers.push_back(i);
    }
    return result;
  }

  bool fault(HoldFault what, std::uint32_t hold) {
    fail(fault_decision(what, operations_, groups_.of(hold)), {hold});
    return false;
  }

  bool not_in_queue(std::uint32_t hold) {
    Decision decision = fault_decision(HoldFault::never_acquired, operations_, groups_.of(hold));
    decision.rule = "not-in-queue";
    decision.because = "no ticket of this hold had been called by then";
    fail(std::move(decision), {hold});
    return false;
  }

  bool add(std::uint32_t hold) {
    const auto members = groups_.of(hold);
    if (members.empty()) return true;
    const FairParts fair = fair_parts(operations_, members);
    const bool left = fair.acquire != kNone && operations_[fair.acquire].refused();
    const Reduced reduced = reduce_hold(operations_, members, {}, hold);
    if (reduced.fault != HoldFault::none) return fault(reduced.fault, hold);
    Waiter waiter{.job = reduced.job, .hold = hold, .ticket = fair.ticket, .acquire = fair.acquire};
    const bool granted = reduced.job.shape != Job::Shape::nothing;
    if (!granted && !left) {
      place_refusals(members);
      if (fair.ticket == kNone || operations_[fair.ticket].unknown()) return true;
    }
    if (fair.ticket == kNone) return not_in_queue(hold);
    const Operation& ticket = operations_[fair.ticket];
    waiter.ticket_from = ticket.call;
    if (granted) {
      if (waiter.job.shape == Job::Shape::point) waiter.job.lo = std::max(waiter.job.lo, ticket.call);
      waiter.over = waiter.job.end(waiter.job.lo);
      waiter.begin = waiter.job.hi;
    } else if (left) {
      waiter.fate = Waiter::Fate::left;
      waiter.over = std::max(operations_[fair.acquire].call, ticket.call);
      waiter.begin = kNever;
      place_refusals(members);
    } else {
      stay(waiter, members);
    }
    const Instant latest = left ? operations_[fair.acquire].ret : waiter.begin;
    if (ticket.call > latest) return not_in_queue(hold);
    waiter.ticket_to = std::min(ticket.ret, latest);
    waiters_.push_back(waiter);
    return true;
  }

  // Nothing is known but that it has its ticket. If both its grant and its release were asked for, both may have been.
  void stay(Waiter& waiter, std::span<const std::uint32_t> members) const {
    waiter.begin = kNever;
    const std::uint32_t release = parts_of(operations_, members).unknown_release;
    if (waiter.acquire == kNone || release == kNone) {
      waiter.fate = Waiter::Fate::waiting;
      waiter.over = kNever;
      return;
    }
    waiter.over = std::max({waiter.ticket_from, operations_[waiter.acquire].call, operations_[release].call});
    waiter.job = {
        .lo = waiter.over, .hi = kNever, .length = 0, .cap = kNever, .hold = waiter.hold, .shape = Job::Shape::point};
  }
  // What does not hold the lock can be told so at any time.
  void place_refusals(std::span<const std::uint32_t> members) {
    for (const std::uint32_t number : members) {
      const bool told = operations_[number].refused() && operations_[number].f == Call::release;
      if (told && limits_.witness) places_.push_back({operations_[number].call, 0, number});
    }
  }

  // Takes whoever can be the next of all that are left, until nobody is left.
  bool line_up() {
    const std::size_t count = waiters_.size();
    const auto sorted = [&](auto key) {
      std::vector<std::uint32_t> result(count);
      for (std::uint32_t i = 0; i < count; ++i) result[i] = i;
      std::ranges::sort(result, {}, [&](std::uint32_t i) { return waiters_[i].*key; });
      return result;
    };
    const auto by_ticket = sorted(&Waiter::ticket_from);
    const auto by_deadline = sorted(&Waiter::ticket_to);
    const auto by_over = sorted(&Waiter::over);
    const auto by_begin = sorted(&Waiter::begin);
    std::vector<std::uint8_t> met(count, 0);  // how many of the two conditions
    std::vector<bool> gone(count);
    std::vector<std::uint32_t> ready;
    std::size_t deadline = 0;
    std::size_t begin = 0;
    std::size_t ticketed = 0;
    std::size_t over = 0;
    const auto skip_gone = [&](const std::vector<std::uint32_t>& order, std::size_t from) {
      while (from < count && gone[order[from]]) ++from;
      return from;
    };
    order_.reserve(count);
    while (order_.size() < count) {
      if (order_.size() % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) {
        decision_ = out_of_time();
        return false;
      }
      deadline = skip_gone(by_deadline, deadline);
      begin = skip_gone(by_begin, begin);
      const std::uint32_t first = by_begin[begin];
      const Instant ticket_limit = waiters_[by_deadline[deadline]].ticket_to;
      for (; ticketed < count && waiters_[by_ticket[ticketed]].ticket_from <= ticket_limit; ++ticketed) {
        if (++met[by_ticket[ticketed]] == 2) ready.push_back(by_ticket[ticketed]);
      }
      for (; over < count && waiters_[by_over[over]].over <= waiters_[first].begin; ++over) {
        if (++met[by_over[over]] == 2) ready.push_back(by_over[over]);
      }
      while (!ready.empty() && gone[ready.back()]) ready.pop_back();
      std::uint32_t next = kNone;
      if (!ready.empty()) {
        next = ready.back();
        ready.pop_back();
      } else {  // the one that must begin first is not in its own way
        const std::size_t second = skip_gone(by_begin, begin + 1);
        const bool in_time = second == count || waiters_[first].over <= waiters_[by_begin[second]].begin;
        if (in_time && waiters_[first].ticket_from <= ticket_limit) next = first;
        if (next == kNone) {
          stuck(by_deadline[deadline], first, second == count ? first : by_begin[second]);
          return false;
        }
      }
      gone[next] = true;
      order_.push_back(next);
    }
    return true;
  }

  void stuck(std::uint32_t ticket, std::uint32_t first, std::uint32_t second) {
    std::vector<std::uint32_t> holds;
    Instant from = kNever;
    Instant to = kBegin;
    bool overlap = false;
    for (const std::uint32_t each : {ticket, first, second}) {
      const Waiter& waiter = waiters_[each];
      holds.push_back(waiter.hold);
      from = std::min(from, waiter.ticket_from);
      to = std::max(to, waiter.begin == kNever ? waiter.ticket_from : waiter.begin);
    }
    const Waiter& one = waiters_[first];
    const Waiter& other = waiters_[second];
    overlap = first != second && one.over > other.begin && other.over > one.begin && one.over != kNever;
    fail(overlap ? lock_violation("overlapping-holds", "these holds certainly overlap", other.begin,
                                  std::min(one.over, other.over))
                 : lock_violation("out-of-turn",
                                  "the grants did not follow the tickets: who came first must be served or have left "
                                  "before those behind",
                                  from, to),
         holds);
  }
  void place_all() {
    Instant queued = kBegin;
    Instant front_from = kBegin;  // from when on the next one can be granted
    for (std::uint32_t turn = 0; turn < order_.size(); ++turn) {
      Waiter& waiter = waiters_[order_[turn]];
      queued = std::max(queued, waiter.ticket_from);
      places_.push_back({queued, rank_of(Phase::free, turn), waiter.ticket});
      if (waiter.fate == Waiter::Fate::left) {
        const Instant leaves = std::max(waiter.over, queued);
        places_.push_back({leaves, rank_of(Phase::freeing, turn), waiter.acquire});
        front_from = std::max(front_from, leaves);
      } else if (waiter.fate == Waiter::Fate::waiting) {
        front_from = kNever;
      } else if (waiter.begin ==
                 kNever) {  // nobody knows whether it was granted; if it can, it was, and only passed by
        const Instant at = std::max({front_from, queued, waiter.job.lo});
        if (at == kNever) continue;
        front_from = at;
        places_.push_back({at, rank_of(Phase::instantaneous, turn), waiter.acquire});
        places_.push_back({at, rank_of(Phase::instantaneous, turn, 1),
                           parts_of(operations_, groups_.of(waiter.hold)).unknown_release});
      } else {
        const bool point = waiter.job.shape == Job::Shape::point;
        const Instant start = point ? std::max({front_from, queued, waiter.job.lo}) : waiter.job.hi;
        front_from = waiter.job.end(start);
        waiter.job.hold = turn;
        place_hold(operations_, groups_.of(waiter.hold), {}, waiter.job, start, places_);
      }
    }
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  HoldGroups groups_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> order_;
  std::vector<Place> places_;
  Decision decision_;
};

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits) {
  return FairLock(promise, operations, limits).decide();
}

// Does every process queue, acquire and release in turn? Where there are hold ids: does each have one ticket and one
// acquire at most?
bool has_single_tickets(const Promise& promise, Operations operations) {
  struct Owner {
    bool queued = false;
    bool acquired = false;
  };
  OwnerTable<Owner> owners(promise, operations, {});
  for (const Operation& operation : operations) {
    Owner& owner = owners.of(operation);
    if (operation.f == Call::ticket) {
      if (owner.queued || (promise.identity != Identity::hold && owner.acquired)) return false;
      owner.queued = true;
    } else if (operation.f == Call::acquire) {
      if (promise.identity == Identity::hold ? owner.acquired : !owner.queued) return false;
      if (promise.identity != Identity::hold) owner.queued = false;
      owner.acquired = promise.identity == Identity::hold || !operation.refused();
    } else if (promise.identity != Identity::hold && !operation.refused()) {
      owner.acquired = false;
    }
  }
  return true;
}

}  // namespace

Decision decide_fair_mutex(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  const auto covers = [](const Promise& of, Operations some) {
    return is_plain(of, some) && has_single_tickets(of, some);
  };
  return decide_by_segments(promise, operations, limits, covers, decide_plain);
}

}  // namespace holdfast::objects
