// Effect at the guarded resource: did it ever take a write from somebody who no longer had the lock?
//
// Looks only at what the resource answered, whatever the service and the clients did: lost updates (two writes made
// from the same value), stale writes (after somebody newer had been there), tokens out of order, rejections without
// cause, and values out of nowhere. A write of unknown outcome counts as taken only once somebody has read its value.
// Sort and running maxima, O(n log n).
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class ResourceChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "resource"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
