// Decides a lock without owners, which anybody may release; with several permits, a semaphore without owners.
//
// Algorithm. Answers are taken in the order of their time, and each operation is done as late as it can be: when its
// answer comes, or as the helper of one whose answer has come (an acquire that finds no permit needs a release first,
// and the other way round). The helper is the one whose own answer comes first (earliest deadline first: operations of
// one type are interchangeable, and one that was done earlier could have been done now instead).
//
// This is exact where unknown outcomes may come at any later time or are the last of their process. Ordered sessions in
// which a process goes on are decided by two schedules, one that keeps the order (its yes is a witness) and one that
// does not (its no is a proof); the search decides between them, from the last moment of certain rest before the first
// unknown outcome on. It also decides refused requests that the schedule does not explain.
//
// Time O(n log n). Memory about 1 byte per operation, 12 per unknown one, 4 per operation for the witness.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_anonymous(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
