// Semaphore with `permits` permits; acquires take any number of them at once. With hold ids, or with processes that
// retire at an unknown outcome and give back what they took in one piece: weighted cores (counted_lock.h), O(n log n)
// time, about 60 bytes per operation. Sessions, and processes that take several times before they give back, are
// decided in semaphore_sessions.h. Refused acquires ("there is no room"), and holds given back in parts of which not
// all are known, go to the search between the instants at which all permits are certainly there. Violations: acquires
// whose permits certainly add up to more than there are, or a hold and those that leave no instant for it.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_semaphore(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
