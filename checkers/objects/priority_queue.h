// Priority queue: insert, extract (the least value, or nothing).
//
// With unique values: a value can go only while no smaller one is inside. So values are taken from the least on, each
// as late in and as early out as can be: put in when its insert returned, taken out at the first instant from the
// extract's call on at which no smaller one is inside. By induction that is the least time that it can be inside, so a
// contradiction arises exactly when this instant lies behind the extract's return, or when an "empty" finds no instant
// at which nothing is inside. Compare Lee and Mathur, OOPSLA 2025.
//
// Covered time is kept as a union-find over the instants that occur: O(n log n) time for sorting, about 120 bytes for
// each value. Repeated values and unknown extracts are searched, see items.h.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_priority_queue(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
