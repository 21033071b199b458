#include "checkers/objects/mutex_holds.h"

#include <algorithm>

namespace holdfast::objects::locks {

namespace {

void add(Holds& holds, const Hold& hold) {
  (hold.is_core() ? holds.cores : holds.points).push_back(hold);
}

void check_call(const Promise& promise, std::size_t number, const Operation& operation) {
  if (operation.f != Call::acquire && operation.f != Call::release) refuse_call(promise, number, operation);
}

// The sessions' part: the lowest path of each owner, cut where its count is zero.
Holds reduce_sessions(const Promise& promise, Operations operations, const Owners& owners, bool links,
                      const Limits& limits) {
  Holds holds;
  Paths paths(operations, owners, promise.reentrancy, limits);
  holds.contradiction = paths.contradiction();
  holds.stopped = paths.stopped();
  if (holds.contradiction || holds.stopped) return holds;

  struct Open {
    Instant first_answer = kNever;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  std::vector<Open> open(owners.size());
  if (links) holds.previous.assign(operations.size(), kNone);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (stopped_at(i, limits)) {
      holds.stopped = true;
      return holds;
    }
    const Operation& operation = operations[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (operation.refused()) {
      if (operation.f == Call::acquire) {
        holds.attempts.push_back(number);
      } else if (links) {
        holds.refusals.push_back(number);
      }
      continue;
    }
    const std::uint32_t owner = owners.of(operation);
    if (!paths.takes(operation, owner)) continue;
    Open& hold = open[owner];
    if (hold.first == kNone) hold = {.first_answer = operation.ret, .first = number, .last = kNone};
    hold.first_answer = std::min(hold.first_answer, operation.ret);
    if (links) holds.previous[i] = hold.last;
    hold.last = number;
    if (paths.count(owner) > 0) continue;
    add(holds,
        {.first_answer = hold.first_answer, .last_request = operation.call, .first = hold.first, .last = number});
    hold.first = kNone;
  }
  for (const Open& hold : open) {
    if (hold.first == kNone) continue;
    add(holds, {.first_answer = hold.first_answer, .last_request = kNever, .first = hold.first, .last = hold.last});
  }
  return holds;
}

// What is known of one hold id. It has one acquire, and its operations follow one another, whoever makes them.
struct Attempt {
  std::uint32_t last_known = kNone;
  std::uint32_t acquire = kNone;
  std::uint32_t release = kNone;          // the one that was answered
  std::uint32_t unknown_release = kNone;  // the first one that was not
  std::uint32_t refusal = kNone;          // the first "not held" after an answered acquire
};

class HoldIds {
 public:
  HoldIds(Operations operations, const Owners& owners, bool links, const Limits& limits)
      : operations_(operations),
        owners_(owners),
        links_(links),
        limits_(limits),
        attempts_(owners.size()),
        processes_(operations, false),
        last_of_process_(processes_.size(), kNone) {}

  Holds run(const Promise& promise) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (stopped_at(i, limits_)) {
        holds_.stopped = true;
        return std::move(holds_);
      }
      check_call(promise, i, operations_[i]);
      look_at_clock(i);
      if (holds_.irregular) return std::move(holds_);
      if (!pass(static_cast<std::uint32_t>(i))) {
        explain(static_cast<std::uint32_t>(i));
        return std::move(holds_);
      }
    }
    emit();
    return std::move(holds_);
  }

 private:
  // Holds describe a history only as far as the clock tells the order. It does not where a process did something about
  // one hold at the very instant at which it heard about another, other than to begin the next after a release.
  void look_at_clock(std::size_t number) {
    const Operation& operation = operations_[number];
    if (operation.unknown()) return;
    if (operation.call == operation.ret) holds_.irregular = true;
    std::uint32_t& last = last_of_process_[processes_.of(operation)];
    if (last != kNone && operations_[last].ret == operation.call && operations_[last].hold != operation.hold) {
      const bool next = operations_[last].f == Call::release && operations_[last].ok() && operation.f == Call::acquire;
      if (!next) holds_.irregular = true;
    }
    last = static_cast<std::uint32_t>(number);
  }

  // Another process may release a hold, once it can know of it: operations of one hold that overlap are no steps of it.
  void look_at_order(Attempt& attempt, std::uint32_t number) {
    const Operation& operation = operations_[number];
    if (attempt.last_known != kNone) {
      const Operation& before = operations_[attempt.last_known];
      if (before.process != operation.process && before.ret >= operation.call) holds_.irregular = true;
    }
    if (!operation.unknown()) attempt.last_known = number;
  }

  // False: this hold has become impossible.
  bool pass(std::uint32_t number) {
    const Operation& operation = operations_[number];
    if (operation.f == Call::acquire && operation.refused()) {
      holds_.attempts.push_back(number);
      return true;
    }
    Attempt& attempt = attempts_[owners_.of(operation)];
    look_at_order(attempt, number);
    if (operation.f == Call::acquire) {
      if (attempt.acquire != kNone) holds_.irregular = true;
      attempt.acquire = number;
      return attempt.release == kNone;
    }
    if (operation.unknown()) {
      if (attempt.unknown_release == kNone) attempt.unknown_release = number;
      return true;
    }
    const bool certainly_acquired = attempt.acquire != kNone && operations_[attempt.acquire].ok();
    if (operation.refused()) {
      if (links_) holds_.refusals.push_back(number);
      if (!certainly_acquired || attempt.release != kNone || attempt.refusal != kNone) return true;
      attempt.refusal = number;
      return attempt.unknown_release != kNone || followed_at_once(number);
    }
    // One acquire, one release; and nobody can release what was lost before.
    if (attempt.acquire == kNone) return followed_at_once(number);
    if (attempt.release != kNone || attempt.refusal != kNone) return false;
    attempt.release = number;
    return true;
  }

  // What is called by the time this operation returns may yet make it possible; in a regular history that is nothing.
  bool followed_at_once(std::uint32_t number) {
    const Operation& operation = operations_[number];
    for (std::size_t i = number + 1; i < operations_.size() && operations_[i].call <= operation.ret; ++i) {
      if (operations_[i].hold == operation.hold) holds_.irregular = true;
    }
    return holds_.irregular;
  }

  void explain(std::uint32_t number) {
    if (holds_.irregular) return;
    const std::uint32_t owner = owners_.of(operations_[number]);
    Contradiction found{.to = operations_[number].ret};
    if (operations_[number].unknown()) found.to = operations_[number].call;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.f == Call::acquire && operation.refused()) continue;
      if (owners_.of(operation) != owner) continue;
      if (found.part.empty()) found.from = operation.call;
      found.part.push_back(i);
    }
    holds_.contradiction = std::move(found);
  }

  void emit() {
    if (links_) holds_.previous.assign(operations_.size(), kNone);
    Numbers open;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.refused()) continue;
      const Attempt& attempt = attempts_[owners_.of(operation)];
      const bool proven = attempt.acquire != kNone && (operations_[attempt.acquire].ok() || attempt.release != kNone);
      if (!proven) continue;
      const std::uint32_t end = attempt.release != kNone ? attempt.release : attempt.unknown_release;
      if (end == kNone) {
        open.push_back(i);
      } else if (i == std::max(end, attempt.acquire)) {
        if (links_) holds_.previous[end] = attempt.acquire;
        add(holds_, {.first_answer = std::min(operations_[attempt.acquire].ret, operations_[end].ret),
                     .last_request = operation.call,
                     .first = attempt.acquire,
                     .last = end});
      }
    }
    for (const std::uint32_t acquire : open) {
      add(holds_,
          {.first_answer = operations_[acquire].ret, .last_request = kNever, .first = acquire, .last = acquire});
    }
  }

  Operations operations_;
  const Owners& owners_;
  bool links_;
  const Limits& limits_;
  std::vector<Attempt> attempts_;
  Owners processes_;
  Numbers last_of_process_;
  Holds holds_;
};

Contradiction overlap(const Promise& promise, Operations operations, const Owners& owners, std::string rule,
                      const Hold& one, const Hold& other) {
  Contradiction found{.rule = std::move(rule)};
  // Outside of its hold an owner need not hold the lock, whatever is weakened; so nothing else can matter.
  const auto collect = [&](const Hold& hold) {
    const std::uint32_t owner = owners.of(operations[hold.first]);
    const bool whole = promise.identity == Identity::hold;  // unknown releases may lie anywhere
    const std::size_t begin = whole ? 0 : hold.first;
    const std::size_t end = whole || hold.last_request == kNever ? operations.size() : std::size_t{hold.last} + 1;
    for (std::size_t i = begin; i < end; ++i) {
      if (operations[i].f == Call::acquire && operations[i].refused()) continue;
      if (owners.of(operations[i]) == owner) found.part.push_back(static_cast<std::uint32_t>(i));
    }
  };
  collect(one);
  collect(other);
  std::ranges::sort(found.part);
  return found;
}

}  // namespace

Holds reduce(const Promise& promise, Operations operations, const Owners& owners, bool links, const Limits& limits) {
  if (promise.identity == Identity::hold) return HoldIds(operations, owners, links, limits).run(promise);
  for (std::size_t i = 0; i < operations.size(); ++i) check_call(promise, i, operations[i]);
  return reduce_sessions(promise, operations, owners, links, limits);
}

std::optional<Contradiction> find_overlap(const Promise& promise, Operations operations, const Owners& owners,
                                          const Holds& holds) {
  const std::vector<Hold>* cores = &holds.cores;
  std::vector<Hold> sorted;
  if (!std::ranges::is_sorted(holds.cores, {}, &Hold::first_answer)) {
    sorted = holds.cores;
    std::ranges::sort(sorted, {}, &Hold::first_answer);
    cores = &sorted;
  }
  const Instant end = operations.empty() ? 0 : operations.back().call;
  for (std::size_t i = 1; i < cores->size(); ++i) {
    const Hold& one = (*cores)[i - 1];
    const Hold& other = (*cores)[i];
    if (other.first_answer >= one.last_request) continue;
    Contradiction found = overlap(promise, operations, owners, "overlapping-holds", one, other);
    found.from = other.first_answer;
    found.to = std::min(one.last_request, other.last_request);
    if (found.to == kNever) found.to = std::max(found.from, end);
    return found;
  }
  std::size_t next = 0;  // the first core that begins at or after the point's last request
  for (const Hold& point : holds.points) {
    while (next < cores->size() && (*cores)[next].first_answer < point.last_request) ++next;
    if (next == 0 || (*cores)[next - 1].last_request <= point.first_answer) continue;
    Contradiction found = overlap(promise, operations, owners, "hold-within-hold", (*cores)[next - 1], point);
    found.from = point.last_request;
    found.to = point.first_answer;
    return found;
  }
  return std::nullopt;
}

}  // namespace holdfast::objects::locks
