// Decides a lock with owners, reentrant up to Promise::reentrancy.
//
// Algorithm. Each owner's operations are reduced to holds, each as short as it can be made: one that lasts from its
// first answer to its last request (CORE), or, where that is no time at all, one that can be made at any single instant
// between its last request and its first answer (POINT). The history is possible exactly when no two cores overlap and
// no point must lie within a core of somebody else (the shortest holds of each owner are contained in those of every
// other explanation, and can all be made; the proof is in the documentation of the algorithms). Any contradiction
// therefore involves two owners at most. This is an interval form of linearizability (Herlihy and Wing, TOPLAS 1990).
// A refused acquire wants the lock held. Where the shortest holds do not do, they are stretched; where acquires of
// unknown outcome could matter, the search decides the stretch of time between two moments at which the lock was
// certainly free and nothing was under way.
//
// Identity::reuse is NP-complete. What is possible for ordered sessions is possible there, too; the rest is searched.
//
// Time O(n), also for histories of many owners: valid histories need no sorting. Memory 24 bytes per hold and 4 per
// unknown operation; 4 more per operation when a witness is wanted.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_mutex(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
