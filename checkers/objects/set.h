// Set: add, remove (refused: it was not there), contains, and reads of the whole set.
//
// Without whole reads each element is an object of its own (Horn and Kroening, FORTE 2015). One that is added once, or
// never removed, is inside for one stretch of time: from the add, at the latest by the first return of anything that
// proves it inside, to the remove, at the earliest from the last call of such a proof on. Making it as short as
// possible leaves the most room for those who did not find the element; they must have an instant outside. Linear in
// the element's operations. Elements that are added repeatedly and removed are searched, one at a time.
//
// A set that only grows, with whole reads: the reads must form a chain of subsets, so their order is known, and with it
// the place of the first add of each element: before the first read that saw it. Nothing may then return before
// something that comes earlier is called. O(total size of the different sets seen + n log n).
//
// Whole reads together with anything else than adds are searched. About 60 bytes for each operation.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_set(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
