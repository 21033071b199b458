#include "checkers/objects/fenced_mutex.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "checkers/objects/fence_gaps.h"
#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lock_cores.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/lock_segments.h"
#include "checkers/objects/obligations.h"
#include "checkers/objects/owner_table.h"

namespace holdfast::objects {

namespace {

constexpr std::uint32_t kHoldsBetweenLooksAtTheClock = 1U << 14U;

constexpr const char* kAboveZero = "the first token is above zero";
constexpr const char* kSkipped = "not so many grants can have come before this token";

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits);

// Does some hold have a grant that is known and may come after a release that was called before?
bool may_release_at_once(const Promise& promise, Operations operations) {
  constexpr Instant kBegin = std::numeric_limits<Instant>::min();
  OwnerTable<Instant> granted_by(promise, operations, kBegin);
  OwnerTable<std::uint8_t> releasing(promise, operations, 0);
  for (const Operation& operation : operations) {
    if (operation.refused()) continue;
    if (operation.f == Call::release) {
      if (granted_by.of(operation) >= operation.call) return true;
      releasing.of(operation) = 1;
    } else if (operation.ok()) {
      if (promise.identity == Identity::hold && releasing.of(operation) != 0) return true;
      granted_by.of(operation) = operation.ret;
    }
  }
  return false;
}

class Fences {
 public:
  Fences(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits), by_hold_(promise.identity == Identity::hold) {}

  Decision decide() {
    if (limits_.witness) places_.reserve(operations_.size());
    if (!by_hold_ && promise_.reentrancy > 1) {
      if (!read_runs()) return std::move(decision_);
    } else {
      if (!by_hold_) {
        if (const auto twice = repeated_acquire(promise_, operations_)) {
          blame("acquired-twice", "the process acquired again without having given anything back", {},
                {twice->first, twice->second});
          return std::move(decision_);
        }
      }
      groups_ = group_holds(promise_, operations_);
      for (std::uint32_t hold = 0; hold < groups_.size(); ++hold) {
        if (hold % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) return out_of_time();
        if (!add(hold)) return std::move(decision_);
      }
    }
    if (!tokens_follow_time() || !gaps_fit()) return std::move(decision_);
    if (limits_.witness) write_witness(places_, false, decision_);
    return std::move(decision_);
  }

 private:
  // --- reading holds

  bool add(std::uint32_t hold) {
    const auto members = groups_.of(hold);
    if (members.empty()) return true;
    const Reduced reduced = reduce_hold(operations_, members, {}, hold);
    if (reduced.fault != HoldFault::none) return fault(reduced.fault, hold);
    const HoldParts parts = parts_of(operations_, members);
    if (reduced.job.shape == Job::Shape::nothing) {
      const bool both_asked = parts.acquire != kNone && parts.unknown_release != kNone;
      if (by_hold_ && both_asked && promise_.fence == FenceRule::by_one) {
        const Instant from = std::max(operations_[parts.acquire].call, operations_[parts.unknown_release].call);
        unseen_.push_back({.from = from, .to = kNever, .hold = hold, .optional = true});
      } else {
        place_refusals(members);
      }
      return true;
    }
    if (reduced.job.shape == Job::Shape::point) {
      unseen_.push_back({.from = reduced.job.lo, .to = reduced.job.hi, .hold = hold});
      return true;
    }
    known_.push_back({reduced.job.hi, reduced.job.core_end(), operations_[parts.acquire].result, hold});
    if (limits_.witness) place_hold(operations_, members, {}, reduced.job, reduced.job.hi, places_);
    return true;
  }

  void place_refusals(std::span<const std::uint32_t> members) {
    for (const std::uint32_t number : members) {  // who does not hold can be told so at any time
      if (limits_.witness && operations_[number].refused()) places_.push_back({operations_[number].call, 0, number});
    }
  }

  bool fault(HoldFault what, std::uint32_t hold) {
    const Decision words = fault_decision(what, operations_, groups_.of(hold));
    // Of a process one operation did not follow the one before it.
    std::vector<std::uint32_t> known;
    const bool refusal = what == HoldFault::regained || what == HoldFault::lost_early;
    for (const std::uint32_t number : groups_.of(hold)) {
      const Operation& operation = operations_[number];
      const bool releases = operation.f == Call::release && operation.ok();
      const bool told = operation.f == Call::release && operation.refused();
      const bool relevant = refusal ? operation.f == Call::acquire || told : releases;
      const std::size_t most = what == HoldFault::never_acquired ? 1 : 2;
      if (relevant && known.size() < most) known.push_back(number);
    }
    blame(words.rule, words.because, {hold}, known);
    return false;
  }

  // Reentrant processes, none of whose operations but the last can be unknown: a run is from the grant to the release
  // that gives back the last one.
  bool read_runs() {
    struct Owner {
      std::uint32_t run = kNone;
      std::uint32_t count = 0;
    };
    OwnerTable<Owner> owners(promise_, operations_, {});
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (i % kHoldsBetweenLooksAtTheClock == 0 && limits_.reached()) {
        decision_ = out_of_time();
        return false;
      }
      const Operation& operation = operations_[i];
      Owner& owner = owners.of(operation);
      if (operation.f == Call::acquire) {
        if (operation.unknown()) continue;
        if (owner.count++ == 0) {
          owner.run = static_cast<std::uint32_t>(known_.size());
          known_.push_back({operation.ret, kNever, operation.result, i});
          place(i, operation.ret, Phase::beginning);
          continue;
        }
        if (owner.count > promise_.reentrancy)
          return blame_process("entered-too-often", "the holder entered more often than is allowed", i);
        if (operation.result != known_[owner.run].token) {
          return blame_process("token-changed", "the holder entered again and was given another token", i);
        }
        place(i, operation.call, Phase::ending);
      } else if (operation.refused()) {
        if (owner.count > 0) return blame_process("lost", "the holder was told that it does not hold the lock", i);
        place(i, operation.call, Phase::free);
      } else if (owner.count == 0) {
        if (operation.ok())
          return blame_process("used-without-acquire", "the process held nothing that it could give back", i);
      } else {
        place(i, operation.call, Phase::ending);
        if (--owner.count == 0) known_[owner.run].to = operation.call;
      }
    }
    return true;
  }
  void place(std::uint32_t number, Instant at, Phase phase) {
    if (limits_.witness) places_.push_back({at, rank_of(phase, 0), number});
  }

  // --- the check

  bool tokens_follow_time() {
    std::ranges::sort(known_, {}, &KnownGrant::from);
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const KnownGrant& grant = known_[i];
      if (grant.token < 1) {
        from_ = to_ = grant.from;
        blame("token-not-growing", kAboveZero, {grant.hold}, {acquire_of(grant)});
        return false;
      }
      if (i == 0) continue;
      const KnownGrant& before = known_[i - 1];
      from_ = before.from;
      to_ = grant.from;
      if (before.to > grant.from) {
        from_ = grant.from;
        to_ = std::min(before.to, grant.to);
        blame("overlapping-holds", "these holds certainly overlap", {before.hold, grant.hold},
              {acquire_of(before), acquire_of(grant)});
        return false;
      }
      if (before.token >= grant.token) {
        blame("token-not-growing", "the later grant did not get a greater token", {before.hold, grant.hold},
              {acquire_of(before), acquire_of(grant)});
        return false;
      }
    }
    return true;
  }

  bool gaps_fit() {
    const auto failure = fill_gaps(known_, unseen_, promise_.fence);
    if (!failure) {
      place_unseen();
      return true;
    }
    const KnownGrant& next = known_[std::min<std::size_t>(failure->gap, known_.size() - 1)];
    from_ = failure->gap == 0 ? next.from : known_[failure->gap - 1].from;
    to_ = next.from;
    if (failure->left_out) {
      blame("too-few-tokens",
            "each grant needs a token of its own and an instant at which nobody else holds the lock, and there are not "
            "enough of both between these",
            crowd_around(known_, unseen_, *failure), {});
    } else {
      blame("token-skipped", kSkipped, {next.hold}, {acquire_of(next)});
    }
    return false;
  }

  void place_unseen() {
    if (!limits_.witness) return;
    for (const UnseenGrant& grant : unseen_) {
      const auto members = groups_.of(grant.hold);
      if (grant.gap == kNone) {
        place_refusals(members);
        continue;
      }
      const Job job{
          .lo = grant.from, .hi = grant.to, .length = 0, .cap = kNever, .hold = grant.hold, .shape = Job::Shape::point};
      const Instant start = grant.gap == 0 ? grant.from : std::max(grant.from, known_[grant.gap - 1].to);
      place_hold(operations_, members, {}, job, start, places_);
    }
  }

  // --- what to say

  [[nodiscard]] std::uint32_t acquire_of(const KnownGrant& grant) const {
    if (!by_hold_ && promise_.reentrancy > 1) return grant.hold;  // runs are numbered by their first acquire
    return parts_of(operations_, groups_.of(grant.hold)).acquire;
  }

  bool blame_process(const char* rule, const char* conclusion, std::uint32_t number) {
    blame(rule, conclusion, {}, {number});
    return false;
  }

  void blame(std::string rule, std::string conclusion, const std::vector<std::uint32_t>& holds,
             const std::vector<std::uint32_t>& likely) {
    if (from_ == 0 && to_ == 0 && !likely.empty()) {
      from_ = operations_[likely.front()].call;
      to_ = operations_[likely.back()].ret;
    }
    decision_ = lock_violation(std::move(rule), std::move(conclusion), from_, to_);
    if (!by_hold_) return promise_.reentrancy > 1 ? blame_runs(likely) : blame_acquires(likely);
    if (promise_.fence != FenceRule::by_one) {
      return find_core(decision_, promise_, arena_of(operations_, groups_, holds), decide_plain, limits_);
    }
    blame_by_one(holds, likely);
  }

  // By one, every other hold counts: once it is weakened it may or may not have used up a token. What is impossible for
  // growing tokens is a good guess; it may be more than is needed.
  void blame_by_one(const std::vector<std::uint32_t>& holds, std::vector<std::uint32_t> likely) {
    Promise growing = promise_;
    growing.fence = FenceRule::increasing;
    const Arena few = arena_of(operations_, groups_, holds);
    Limits limits = limits_;
    limits.witness = limits.minimal_core = false;
    if (decide_plain(growing, few.operations, limits).answer == Answer::violation) {
      Decision guess;
      find_core(guess, growing, few, decide_plain, limits_);
      likely = std::move(guess.core);
    }
    std::vector<std::uint32_t> all(groups_.size());
    for (std::uint32_t hold = 0; hold < all.size(); ++hold) all[hold] = hold;
    const std::string conclusion = decision_.because;
    find_core_as(decision_, promise_, arena_of(operations_, groups_, all), decide_plain, limits_, likely);
    name_lonely_token(conclusion);
  }

  // A single acquire overlaps nobody: its token is out of reach.
  void name_lonely_token(const std::string& conclusion) {
    const bool lonely = decision_.core.size() == 1 && operations_[decision_.core[0]].f == Call::acquire;
    if (!lonely || conclusion == kSkipped || conclusion == kAboveZero) return;
    std::vector<std::uint32_t> core = std::move(decision_.core);
    const bool skipped = operations_[core[0]].result >= 1;
    decision_.rule = skipped ? "token-skipped" : "token-not-growing";
    decision_.because = skipped ? kSkipped : kAboveZero;
    set_core(decision_, std::move(core));
  }

  // How many grants can have been given back by the time of this acquire, were nothing else known?
  [[nodiscard]] std::int64_t grants_that_can_be_over(std::uint32_t acquire) const {
    OwnerTable<std::uint8_t> open(promise_, operations_, 0);
    std::int64_t count = 0;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      const bool later =
          operation.process == operations_[acquire].process ? i >= acquire : operation.call > operations_[acquire].ret;
      if (later || operation.refused()) continue;
      std::uint8_t& held = open.of(operation);
      if (operation.f == Call::release) count += held;
      held = operation.f == Call::acquire ? 1 : 0;
    }
    return count;
  }

  // Processes that hold once at a time: the operations are contradictory; by one, an acquire may be so by itself, when
  // fewer holds than its token needs were over by then.
  void blame_acquires(std::vector<std::uint32_t> core) {
    if (promise_.fence == FenceRule::by_one) {
      for (const std::uint32_t number : core) {
        const Operation& acquire = operations_[number];
        if (acquire.f != Call::acquire) continue;
        const std::int64_t before = grants_that_can_be_over(number);
        if (acquire.result >= 1 && acquire.result - 1 <= before) continue;
        core = {number};
        break;
      }
    } else {
      for (const std::uint32_t number : core) {
        if (operations_[number].f == Call::acquire && operations_[number].result < 1) {
          core = {number};
          break;
        }
      }
    }
    const std::string conclusion = decision_.because;
    set_core(decision_, std::move(core));
    name_lonely_token(conclusion);
  }

  // Reentrant processes: what each of them did in between matters.
  void blame_runs(const std::vector<std::uint32_t>& likely) {
    constexpr std::size_t kMostToMinimize = 200;
    const bool everybody = promise_.fence == FenceRule::by_one;
    Arena arena;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const bool chosen = everybody || std::ranges::any_of(likely, [&](std::uint32_t number) {
                            return operations_[number].process == operations_[i].process;
                          });
      if (!chosen) continue;
      arena.operations.push_back(operations_[i]);
      arena.numbers.push_back(i);
    }
    Limits limits = limits_;
    limits.minimal_core = limits.minimal_core && arena.operations.size() <= kMostToMinimize;
    find_core_as(decision_, promise_, arena, search, limits, likely);
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  bool by_hold_;
  HoldGroups groups_;
  std::vector<KnownGrant> known_;
  std::vector<UnseenGrant> unseen_;
  std::vector<Place> places_;
  Instant from_ = 0;
  Instant to_ = 0;
  Decision decision_;
};

bool covers(const Promise& promise, Operations operations) {
  if (!is_plain(promise, operations)) return false;
  if (promise.identity != Identity::hold) return true;
  return !repeated_acquire(promise, operations) && !may_release_at_once(promise, operations);
}

Decision decide_plain(const Promise& promise, Operations operations, const Limits& limits) {
  return Fences(promise, operations, limits).decide();
}

}  // namespace

Decision decide_fenced_mutex(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  return decide_by_segments(promise, operations, limits, covers, decide_plain);
}

}  // namespace holdfast::objects
