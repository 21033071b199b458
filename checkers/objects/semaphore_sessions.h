// Decides a semaphore whose owners acquire and release single permits again and again, in ordered sessions.
//
// Algorithm. Each owner follows its lowest path (lock_sessions.h): no other explanation lets it hold less at any time.
// The greedy schedule does a step up only when its answer forces it, every step down as soon as it is asked for, and a
// rise that is known to end no higher than it began as soon as there is room for its height. It is exact as long as no
// owner needs two acquires of unknown outcome between two answers, or asks for something at the very instant of an
// answer; beyond that its yes is still a witness, and its no goes to the search, on the stretch between two moments at
// which all permits were certainly there. So do refused acquires ("all permits are taken") that the schedule does not
// explain, and acquires of more than one permit.
//
// Time O(n log(owners)). Memory 4 bytes per operation and 4 per unknown one, 4 more per operation for the witness.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// For Identity::session and Identity::crash. Other identities are searched as a whole.
Decision decide_semaphore_sessions(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
