// The two halves of decide_set, see set.h. Of a violation `because` is the conclusion only and the core need not be
// minimal, see conclude().
#pragma once

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

// No whole reads.
Decision decide_elements(const Promise& promise, Operations operations, const Limits& limits);
// Adds and whole reads only.
Decision decide_growing_set(const Promise& promise, Operations operations, const Limits& limits);

// An operation with its place in the witness: by time, at one instant by turn.
struct Placed {
  Instant when;
  std::uint32_t turn;
  std::uint32_t number;
};
std::vector<std::uint32_t> in_order(std::vector<Placed> placed);

}  // namespace holdfast::objects
