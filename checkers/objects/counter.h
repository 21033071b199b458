// Counter: increment, read.
//
// Increments by one are decided by doing everything as late as possible: when an increment returns that has not
// happened yet, it happens; when a read returns that has not happened yet, increments under way happen, first those
// that return first and the unknown ones last, until the count is what was read. A read happens as soon as the count is
// right. So the count is at every moment the least that it can be, and increments that are all alike are used up in the
// best order (exchange argument). Contradictions: at a read's return the count is already greater, or nothing is under
// way that could raise it.
//
// O(n log n) time, about 40 bytes for each operation. Other increments (deciding them is as hard as subset sum) are
// left to the search.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_counter(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
