// Stack: insert (push), extract (pop, which may find nothing).
//
// With unique values: a value is certainly inside between the return of its push and the call of its pop (its core; one
// that nobody popped stays to the end). Values without a core can be pushed and popped at one instant and are left out.
// Where cores overlap they form a component, with hull [m, M]; the stack is certainly not empty inside it, so one value
// lies at the bottom all the time: its push may happen by m and its pop from M on. Any such value will do (moving its
// push to m and its pop to M disturbs nobody), so it is taken away, the rest falls into smaller components, and so on.
// A component in which nobody can lie at the bottom is a contradiction, and so is a pop that found nothing strictly
// inside an outermost component. Compare Lee and Mathur, Efficient decrease-and-conquer linearizability monitoring,
// OOPSLA 2025.
//
// On the way down m only grows and M only shrinks. So who may lie at the bottom becomes so once and stays so: three
// trees of minima find them, a fourth, of how many cores cover each instant, finds where components break. O(n log n)
// time, about 150 bytes for each value. Repeated values and unknown pops are searched, see items.h.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_stack(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
