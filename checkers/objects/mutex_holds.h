// A mutex history reduced to the shortest possible holds: see mutex.h.
#pragma once

#include <optional>

#include "checkers/objects/lock_sessions.h"

namespace holdfast::objects::locks {

struct Hold {
  Instant first_answer = kNever;  // certainly held from here …
  Instant last_request = kNever;  // … to here; kNever: no release was asked for
  std::uint32_t first = kNone;    // its first operation that takes effect, and its last one
  std::uint32_t last = kNone;
  [[nodiscard]] bool is_core() const { return first_answer < last_request; }
};

struct Holds {
  std::vector<Hold> cores;   // by last request; in a possible history this is the order of first answers, too
  std::vector<Hold> points;  // by last request: at one instant of [last_request, first_answer]
  Numbers previous;          // of an operation that takes effect: the one before it in its hold (only if wanted)
  Numbers refusals;          // refused releases, by call (only if wanted)
  Numbers attempts;          // refused acquires, by call
  std::optional<Contradiction> contradiction;
  bool irregular = false;  // the history is none of those that holds can describe: to be searched
  bool stopped = false;    // a limit was reached
};

// With `links`, all of Holds is filled, else only what is needed to find contradictions.
Holds reduce(const Promise& promise, Operations operations, const Owners& owners, bool links, const Limits& limits);

// Two cores that overlap, or a point within a core.
std::optional<Contradiction> find_overlap(const Promise& promise, Operations operations, const Owners& owners,
                                          const Holds& holds);

}  // namespace holdfast::objects::locks
