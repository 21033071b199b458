#include "checkers/objects/mutex.h"

#include <algorithm>
#include <stdexcept>

#include "checkers/objects/mutex_attempts.h"
#include "checkers/objects/mutex_holds.h"
#include "checkers/objects/mutex_witness.h"

namespace holdfast::objects {

namespace locks {

namespace {

Decision undecided_in_time() {
  return out_of_limits("the time");
}

// Whether a part of the history with some of its operations weakened is impossible; refused acquires are not in it.
bool is_impossible(const Promise& promise, Operations operations, const Limits& limits) {
  const Owners owners(promise, operations);
  const Holds holds = reduce(promise, operations, owners, false, limits);
  if (holds.irregular) return search(promise, operations, limits).answer == Answer::violation;
  return !holds.stopped && (holds.contradiction || find_overlap(promise, operations, owners, holds));
}

// The members of the core that belong to the owner of `number`.
Numbers of_owner(const Promise& promise, Operations operations, const Numbers& core, std::uint32_t number) {
  const auto owner = [&](std::uint32_t each) {
    return promise.identity == Identity::hold ? operations[each].hold : operations[each].process;
  };
  Numbers result;
  for (const std::uint32_t member : core) {
    if (owner(member) == owner(number)) result.push_back(member);
  }
  return result;
}

std::string certain_hold(Operations operations, const Numbers& core, const Numbers& members) {
  if (members.size() > 1) {
    return named(core, members) + " show that their owner held the lock from the first answer to the last request";
  }
  const std::string who = named(core, members);
  if (operations[members.front()].f == Call::acquire) {
    return who + " certainly held the lock from its answer until a release was asked for";
  }
  return who + " certainly held the lock at an instant between its call and its answer";
}

void explain_overlap(const Promise& promise, Operations operations, Decision& decision) {
  const Numbers one = of_owner(promise, operations, decision.core, decision.core.front());
  Numbers other;
  std::ranges::set_difference(decision.core, one, std::back_inserter(other));
  if (other.empty()) return explain_session(operations, promise.reentrancy, decision);
  decision.because = certain_hold(operations, decision.core, one) + "; " +
                     certain_hold(operations, decision.core, other) + "; they cannot have had it one after the other";
}

Decision violated(const Promise& promise, Operations operations, const Contradiction& contradiction,
                  const Limits& limits) {
  Decision decision;
  decision.answer = Answer::violation;
  decision.rule = contradiction.rule;
  decision.from = contradiction.from;
  decision.to = contradiction.to;
  decision.core = candidates(operations, contradiction);
  if (limits.minimal_core) {
    minimise(
        operations, contradiction.part, decision.core,
        [&](Operations weakened) { return is_impossible(promise, weakened, limits); }, limits);
  }
  std::ranges::sort(decision.core);
  if (contradiction.rule.empty()) {
    explain_session(operations, promise.reentrancy, decision);
  } else {
    explain_overlap(promise, operations, decision);
  }
  return decision;
}

// For all identities but reuse.
Decision decide_in_order(const Promise& promise, Operations operations, const Limits& limits) {
  const Owners owners(promise, operations);
  Holds holds = reduce(promise, operations, owners, limits.witness, limits);
  if (holds.irregular) return search_stretch(promise, operations, 0, operations.size(), limits);
  if (holds.stopped) return undecided_in_time();
  if (!holds.contradiction) holds.contradiction = find_overlap(promise, operations, owners, holds);
  if (holds.contradiction) return violated(promise, operations, *holds.contradiction, limits);
  if (limits.reached()) return undecided_in_time();
  if (!holds.attempts.empty()) return decide_attempts(promise, operations, owners, holds, limits);
  Decision decision;
  if (limits.witness) decision.witness = arrange(operations, holds, {});
  return decision;
}

// How many operations there are until all of these have returned and nothing known is under way.
std::size_t end_of_known(Operations operations, const Numbers& core) {
  Instant end = std::numeric_limits<Instant>::min();
  for (const std::uint32_t member : core) end = std::max(end, operations[member].ret);
  std::size_t called = 0;
  for (; called < operations.size() && operations[called].call <= end; ++called) {
    if (!operations[called].unknown()) end = std::max(end, operations[called].ret);
  }
  return called;
}

// What ordered sessions allow is allowed; what they do not is searched, from the last moment of certain rest before the
// first unknown outcome on.
Decision decide_reuse(const Promise& promise, Operations operations, const Limits& limits) {
  Promise ordered = promise;
  ordered.identity = Identity::session;
  Limits quick = limits;
  quick.minimal_core = false;
  Decision decision = decide_in_order(ordered, operations, quick);
  if (decision.answer != Answer::violation) return decision;
  const Owners owners(promise, operations);
  const Numbers cuts = stretches(promise, operations, owners, promise.reentrancy);
  const std::size_t begin = cuts.size() < 2 ? 0 : cuts[cuts.size() - 2];
  Decision head = decide_in_order(ordered, operations.first(begin), quick);
  if (head.answer == Answer::undecided) return head;
  if (head.answer == Answer::linearizable) {
    Decision tail = search_stretch(promise, operations, begin, operations.size(), limits);
    if (tail.answer == Answer::linearizable) {
      tail.witness.insert(tail.witness.begin(), head.witness.begin(), head.witness.end());
      return tail;
    }
    if (tail.answer == Answer::undecided || begin == 0) return tail;
    head = std::move(tail);
  }
  // It is a violation; but weakened operations float as well, so that a core is one only with all that came before.
  const std::size_t end = end_of_known(operations, head.core);
  Decision whole = search_stretch(promise, operations, 0, end, limits);
  if (whole.answer == Answer::violation) return whole;
  head.core.clear();
  for (std::uint32_t i = 0; i < end; ++i) {
    if (!operations[i].unknown()) head.core.push_back(i);
  }
  head.because = named(head.core, head.core) + " cannot all be true";
  return head;
}

}  // namespace

}  // namespace locks

Decision decide_mutex(const Promise& promise, Operations operations, const Limits& limits) {
  if (promise.reentrancy == 0) throw std::invalid_argument("a lock that nobody may acquire");
  constexpr std::size_t kBytesPerOperation = 16;
  const std::size_t witness = limits.witness ? 2 * sizeof(std::uint32_t) : 0;
  if (limits.bytes != 0 && operations.size() * (kBytesPerOperation + witness) > limits.bytes) {
    return locks::out_of_limits("the memory");
  }
  return promise.identity == Identity::reuse ? locks::decide_reuse(promise, operations, limits)
                                             : locks::decide_in_order(promise, operations, limits);
}

}  // namespace holdfast::objects
