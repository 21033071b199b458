// Fair mutex: grants follow tickets. Every hold has a ticket, which puts it into the queue, and an acquire, which is
// its grant (refused: the waiter left the queue).
//
// Two orders have to agree: that of the tickets and that of the grants. x must come before y when y's ticket was called
// after x's had returned, or when y cannot be over before x begins at the latest. Both relations are interval orders,
// and a common order exists if and only if their union has no cycle; it is found by taking, again and again, any hold
// that nothing left over must precede. A waiter that left stands in nobody's way after it is gone, so it need only
// have left before those behind it are granted; one that was never granted comes last. When everybody is preceded by
// somebody, the one whose ticket returned first and the two that must begin first already contradict one another.
// O(n log n) time, about 100 bytes per operation. (Without tickets fairness says nothing: the place in the queue could
// always have been taken just before the grant.) Processes that go on after an unknown outcome go to the search between
// the instants at which the lock is certainly free and the queue empty.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_fair_mutex(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
