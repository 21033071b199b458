// A register of which every value is written at most once, by a write or a compare-and-set.
//
// Zones (Gibbons and Korach, Testing Shared Memories, SIAM J. Comput. 26(4), 1997), over chains of compare-and-sets. An
// unknown write or compare-and-set took effect exactly when somebody is known to have seen its value, and can be left
// out otherwise. A successful cas(u, v) puts v directly behind u; so the values fall into chains, each begun by a plain
// write or by the initial value, and a chain is one uninterrupted stretch of time. Let f be the first return and s the
// last call of a chain's operations. If f < s the register certainly holds values of this chain throughout [f, s]: a
// forward zone. Else all of it can happen at any one instant of [s, f]: a backward zone. The history is linearizable
// exactly when (1) inside a chain nothing returns before something that comes earlier in it is called, (2) forward
// zones do not overlap, (3) no backward zone lies strictly inside a forward zone.
//
// A refused compare-and-set is the observation "not u". It contradicts when it lies strictly inside the time in which
// the register certainly held u. If it does not, it is given a place in the witness; where there is none, that proves
// nothing and the answer is left to others.
//
// O(n log n) time for sorting the zones, linear otherwise; about 60 bytes for each value and 8 for each operation.
#pragma once

#include <optional>

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

// Nothing: a value is written twice, or a refusal needs a closer look. A violation's core is contradictory but need not
// be minimal; `because` is the conclusion only, see conclude().
std::optional<Decision> decide_by_zones(const Promise& promise, Operations operations, const Limits& limits);

// Throws std::invalid_argument when the operation is none of a register's.
void require_register_operation(const Promise& promise, std::size_t number, const Operation& operation);

}  // namespace holdfast::objects
