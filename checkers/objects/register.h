// Register: read, write, compare-and-set.
//
// Histories in which every value is written at most once are decided by zones (register_zones.h) in O(n log n). Others
// are NP-complete (Gibbons and Korach 1997), so they are first cut into components: at stretches in which the register
// certainly held one value that was written once, and at operations that nothing else overlaps. What remains on each
// side of a cut is a history of its own with a known initial value; zones decide the components that they can, search()
// the others. A refused compare-and-set ("it did not hold u") that finds no place in the zones' witness sends its
// component to the search, too. Cutting takes O(n log n) time and about 80 bytes for each operation.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_register(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
