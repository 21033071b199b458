#include "checkers/objects/lock_segments.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <limits>
#include <optional>
#include <stdexcept>

#include "checkers/objects/owner_table.h"

namespace holdfast::objects {

namespace {

// Refused acquires of a fair lock leave the queue: they do something.
bool observes_holder(const Promise& promise, const Operation& operation) {
  return promise.kind != Kind::fair_mutex && operation.f == Call::acquire && operation.refused();
}

struct Segment {
  std::size_t from = 0;
  std::size_t to = 0;
};

// The state is certain to be the initial one where everything called has returned (so nothing is unknown) and as much
// was given back as was taken: a piece that is possible by itself then ends as it began.
std::vector<Segment> cut(const Promise& promise, Operations operations) {
  std::vector<Segment> segments;
  Instant latest = std::numeric_limits<Instant>::min();
  std::int64_t held = 0;
  std::int64_t waiting = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (i > from && latest < operation.call && held == 0 && waiting == 0) {
      segments.push_back({from, i});
      from = i;
    }
    latest = std::max(latest, operation.ret);
    const bool weighs = promise.kind == Kind::semaphore && operation.argument != kNothing;
    const std::int64_t weight = weighs ? operation.argument : 1;
    if (operation.f == Call::ticket) ++waiting;
    if (operation.f == Call::acquire && promise.kind == Kind::fair_mutex) --waiting;
    if (operation.f == Call::acquire && operation.ok()) held += weight;
    if (operation.f == Call::release && operation.ok()) held -= weight;
  }
  if (from < operations.size()) segments.push_back({from, operations.size()});
  return segments;
}

// A refused acquire does not add to what others may do: what is impossible without them is impossible.
std::optional<Decision> without_observations(const Promise& promise, Operations operations, const Limits& limits,
                                             const Covers& covers, const LockDecider& fast) {
  std::vector<Operation> others;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (observes_holder(promise, operations[i])) continue;
    others.push_back(operations[i]);
    numbers.push_back(i);
  }
  if (others.size() == operations.size() || !covers(promise, others)) return std::nullopt;
  Limits no_witness = limits;
  no_witness.witness = false;
  Decision decision = fast(promise, others, no_witness);
  if (decision.answer != Answer::violation) return std::nullopt;
  for (std::uint32_t& member : decision.core) member = numbers[member];
  return decision;
}

// What is wrong in a later piece may need the earlier ones to be taken at their word: had they happened later than they
// say, somebody would have held the lock after all, or tokens would have been used up, or the process would have come
// by what it gave back in another way.
bool leans_on_the_past(const Promise& promise, Operations past, Operations piece) {
  if (past.empty()) return false;
  if (promise.kind == Kind::fenced_mutex || promise.identity != Identity::hold) return true;
  boost::unordered_flat_set<std::uint32_t> holds;
  for (const Operation& each : past) holds.insert(each.hold);
  return std::ranges::any_of(
      piece, [&](const Operation& each) { return observes_holder(promise, each) || holds.contains(each.hold); });
}

Decision search_the_past_too(const Promise& promise, Operations operations, const Decision& found,
                             const Limits& limits) {
  Decision decision = search(promise, operations, limits);
  decision.searched = operations.size();
  if (decision.answer == Answer::violation) return decision;
  // The limits did not allow for a small core; all that is known is one.
  decision = lock_violation(found.rule, "the lock was certainly free before, and no order of what followed is allowed",
                            found.from, found.to);
  std::vector<std::uint32_t> core;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].unknown()) core.push_back(i);
  }
  set_core(decision, std::move(core));
  return decision;
}

void append(Decision& whole, const Decision& piece, std::size_t offset) {
  for (const std::uint32_t number : piece.witness) whole.witness.push_back(number + static_cast<std::uint32_t>(offset));
  whole.searched += piece.searched;
}

}  // namespace

bool is_plain(const Promise& promise, Operations operations) {
  if (!std::ranges::is_sorted(operations, {}, &Operation::call)) {
    throw std::invalid_argument("the operations of a history must be sorted by call");
  }
  if (promise.identity == Identity::reuse) return operations.empty();
  Promise by_process = promise;
  by_process.identity = Identity::crash;
  OwnerTable<Instant> returned(by_process, operations, std::numeric_limits<Instant>::min());
  for (const Operation& operation : operations) {
    if (observes_holder(promise, operation)) return false;
    if (operation.unknown() && promise.identity == Identity::hold) continue;
    Instant& last = returned.of(operation);
    if (last >= operation.call) return false;
    last = operation.ret;
  }
  return true;
}

Decision decide_by_segments(const Promise& promise, Operations operations, const Limits& limits, const Covers& covers,
                            const LockDecider& fast) {
  if (covers(promise, operations)) return fast(promise, operations, limits);
  if (auto decision = without_observations(promise, operations, limits, covers, fast)) return *std::move(decision);
  Decision whole;
  std::int64_t token = 0;
  std::vector<Operation> shifted;
  for (const auto& [from, to] : cut(promise, operations)) {
    Operations piece = operations.subspan(from, to - from);
    if (promise.kind == Kind::fenced_mutex) {  // tokens as if this were the beginning
      shifted.assign(piece.begin(), piece.end());
      std::int64_t greatest = token;
      for (Operation& each : shifted) {
        if (each.f != Call::acquire || !each.ok() || each.result == kNothing) continue;
        greatest = std::max(greatest, each.result);
        each.result -= token;
      }
      token = greatest;
      piece = shifted;
    }
    const bool easy = covers(promise, piece);
    Decision decision = easy ? fast(promise, piece, limits) : search(promise, piece, limits);
    if (!easy) decision.searched = piece.size();
    if (decision.answer == Answer::violation) {
      if (leans_on_the_past(promise, operations.first(from), piece)) {
        return search_the_past_too(promise, operations.first(to), decision, limits);
      }
      for (std::uint32_t& member : decision.core) member += static_cast<std::uint32_t>(from);
      decision.searched += whole.searched;
      return decision;
    }
    if (decision.answer == Answer::undecided && whole.answer != Answer::undecided) {
      whole.answer = Answer::undecided;
      whole.because = decision.because;
      whole.proven_until = decision.proven_until ? decision.proven_until : operations[from].call;
    }
    append(whole, decision, from);
  }
  if (whole.answer != Answer::linearizable || !limits.witness) whole.witness.clear();
  return whole;
}

}  // namespace holdfast::objects
