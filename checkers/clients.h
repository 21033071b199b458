// Mutual exclusion at the clients: do two of them ever believe to hold the same lock at the same time?
//
// Belief ignores leases on purpose. A client that was paused past its lease goes on as if it held the lock, and that is
// the danger that a lease-based lock leaves to its user; the finding says whether the lease had run out and whether a
// fencing token can contain the damage. Sort and sweep, O(n log n); all overlapping pairs are counted, 20 are told.
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class ClientsChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "clients"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
