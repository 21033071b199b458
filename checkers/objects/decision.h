// Decision: the answer of a decider, with what makes it checkable by somebody who does not trust the decider.
//
// Witness (of `linearizable`): the operations that take effect, in an order that the object allows and that respects
// real time. Every ok and refused operation is in it once; unknown ones only if they took effect.
//
// Core (of `violation`): obligations that cannot all be met, subset-minimal as far as limits allow. An obligation is
// one ok or refused operation taken at its word; every operation outside the core is weakened: ok becomes unknown (it
// may have taken effect at any time from its call on, or never), an observation (read, refusal) disappears. The
// weakened history is still impossible (unknown ones keep their place in ordered sessions, see has_ordered_sessions);
// with any one member of the core weakened too it becomes possible. State-changing operations are never deleted:
// deleting a write can make a violation out of nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::objects {

enum class Answer : std::uint8_t { linearizable, violation, undecided };
std::string_view to_string(Answer answer);

struct Limits {
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::size_t bytes = 0;     // 0: no limit
  unsigned threads = 0;      // 0: all cores
  bool witness = true;       // false: do not collect the witness (saves 4 bytes per operation)
  bool minimal_core = true;  // false: the core need not be minimal
  [[nodiscard]] bool reached() const { return stop.stop_requested() || std::chrono::steady_clock::now() >= deadline; }
};

struct Decision {
  Answer answer = Answer::linearizable;
  std::vector<std::uint32_t> witness;  // numbers of operations in the span that was decided
  std::vector<Instant> instants;       // lease_mutex only: when each operation of the witness takes effect
  std::vector<std::uint32_t> core;     // likewise, by call
  std::string rule;                    // of a violation: "overlapping-holds", "stale-read", …; stable and short
  std::string because;                 // one sentence for a stranger; operations are named {0}, {1}, … as in `core`
  Instant from = 0;                    // the stretch of time in which the contradiction lies (from <= to)
  Instant to = 0;
  // undecided: everything that returned before this instant is proven possible; `because` says what ran out
  std::optional<Instant> proven_until;
  std::uint64_t searched = 0;  // operations that no fast rule could decide and that went to the search
};

// Decides one object by the fastest way there is, and falls back to search() on just the component that no rule
// decides. Throws std::invalid_argument when an operation makes no sense for the kind, naming it.
Decision decide(const Promise& promise, Operations operations, const Limits& limits);

// The general search (checkers/porcupine) for any kind: exact, exponential in the worst case, obeys the limits.
Decision search(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
