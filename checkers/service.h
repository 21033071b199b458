// Mutual exclusion at the service: is there a way in which a correct lock service could have given these answers?
//
// Exact (objects/hold_jobs.h, objects/lease_schedule.h) for the model with fresh hold ids, leases and unknown
// outcomes, but for one case: where too many acquires that took as long as their leases overlap, they are relaxed,
// which may miss a violation and never invents one. A lease may end late but never early; a lease that ran out under a
// paused client is therefore no fault of the service. O(n log n).
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class ServiceChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "service"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
