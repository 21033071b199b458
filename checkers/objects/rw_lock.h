// Read-write lock with hold ids, or whose processes retire at an unknown outcome: many readers or one writer. Weighted
// cores (counted_lock.h): O(n log n) time, about 60 bytes per operation. Refused acquires ("somebody holds it"), and
// processes that go on after an unknown outcome, go to the search between the instants at which the lock is certainly
// free. Violations: two acquires whose holds overlap, or a hold and those that leave no instant for it.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_rw_lock(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
