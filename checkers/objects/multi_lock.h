// Multi-lock: an acquire takes a whole set of locks at once. With hold ids, or with processes that retire at an unknown
// outcome, each hold is a core or a point (hold_jobs.h); cores that share a lock must not overlap, and a point needs an
// instant outside the cores of all its locks, found by leaping from end to end. O(m log m) time for m memberships of
// holds in locks (a point: one bisection per leap and lock), about 60 bytes per operation and 24 per membership.
// Refused acquires and processes that go on after an unknown outcome go to the search between the instants at which
// all locks are certainly free. Violations: two acquires whose holds overlap, or a hold and those that leave no
// instant.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_multi_lock(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
