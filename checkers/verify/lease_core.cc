#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

Possibility place_leases(const Weakened& /*weakened*/) {
  return Possibility::unclear;
}

}  // namespace holdfast::verify
