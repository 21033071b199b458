// Wake-up: who waits for a lock gets it, or is refused, soon after it came free.
//
// Broken when an acquire of a live client was pending all the time from the moment at which the lock was certainly free
// (the answer to the last release, and nobody else can have held it) and nobody was granted it for longer than any
// lease lasts: what should have woken the waiter was lost. A fault may lose what wakes, but no waiter may sleep on when
// it is over: its time does not count. Like all liveness it is judged against a time: the longest lease plus a second,
// or two seconds without leases. Clients that poll never wait; nothing is said about them. O(n log n) for n events, and
// a look at every fault for every free time.
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class WakeUpChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "wake-up"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
