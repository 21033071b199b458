// Deadlock freedom: a lock comes free again when its holder is gone.
//
// Broken when, after the last moment at which a live client believed to hold the lock or a fault was active, live
// clients went on asking for longer than any lease lasts and nobody was granted the lock to the end. A liveness
// property can only be judged against a time: the longest lease plus a second, or two seconds without leases. Too few
// attempts after a holder's death make it unknown. O(n).
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class DeadlockChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "deadlock-freedom"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
