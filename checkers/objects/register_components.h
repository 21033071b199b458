// A register's history that zones alone do not decide, cut into components (see register.h).
//
// A cut at a value v that was written once: let f be the first return and s the last call of the operations that know
// of v (its write, its reads, the cas that replaced it). If f < s the register holds v throughout [f, s], so every
// operation with another value comes before (it returned before s) or after (it was called after f); one that may do
// either (called by f, returned from s on) spoils the cut. The left side ends with a read of v at s, the right side
// begins with v. A cut behind an operation that overlaps no other one needs no such care.
//
// Unknown writes of a value that is seen on both sides spoil all cuts in between. Those that nobody sees are of no use,
// except to a refusal: if a component with a refusal has no order without them, the whole history is searched.
#pragma once

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

Decision decide_by_components(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
