// Fencing tokens increase: a lock granted after another grant was answered carries a greater token, and no token is
// issued twice. Holds whether or not exclusion did, so it is judged on its own. Sort and running maximum, O(n log n).
#pragma once

#include "checkers/lock_checker.h"

namespace holdfast {

class TokensChecker : public LockChecker {
 public:
  using LockChecker::LockChecker;
  [[nodiscard]] std::string_view name() const override { return "token-order"; }

 protected:
  void examine(const Scene& scene, Verdict& verdict) const override;
};

}  // namespace holdfast
