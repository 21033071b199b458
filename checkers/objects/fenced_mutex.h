// Fenced mutex: every grant carries a token, and tokens grow (FenceRule::increasing), or grow by exactly one (by_one).
//
// Holds become cores and points (hold_jobs.h). Cores that know their token are ordered by time and by token; both
// orders must be the same. A point is a grant of which nobody saw the token: it uses up one token of the gap between
// two cores in which it is placed, so each gap takes as many points as there are whole numbers between its tokens;
// serving those with the earliest deadline first is best. By one, each gap must be filled exactly; holds of which
// nothing is known help out. A reentrant holder enters again under the token it has. O(n log n) time, about 80 bytes
// per operation.
//
// Refused acquires, reentrant holds with ids, grants that may overlap their own release, and processes that go on after
// an unknown outcome go to the search between the instants at which the lock is certainly free. Violations: two
// acquires in the wrong order or certainly overlapping, one acquire whose token is out of reach, or a gap with too many
// or too few grants. Reentrant processes: a core is made minimal when they did not do more than a few hundred things.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_fenced_mutex(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
