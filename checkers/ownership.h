// Ownership: nobody frees a lock that somebody else holds.
//
// Two kinds of proof, neither of which a correct lock can produce. (1) A release answered ok, wholly within the time in
// which another hold certainly held. (2) A hold that lost the lock before its lease could end, and a release of a hold
// whose own lease had run out that may have hit it. A loss that no such release explains, or during which a server
// was broken, is the service's failure and left to that checker. O(n log n + losses × releases); a loss is rare.
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class OwnershipChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "ownership"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
