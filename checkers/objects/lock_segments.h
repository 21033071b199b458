// Cuts the history of a lock where it is certainly free and nothing is under way, decides the pieces that a fast rule
// covers by that rule and the others by the general search. What a piece is decided by is the rule's own business.
// O(n) besides the deciders.
#pragma once

#include <functional>

#include "checkers/objects/decision.h"
#include "checkers/objects/lock_cores.h"

namespace holdfast::objects {

using Covers = std::function<bool(const Promise&, Operations)>;

// The questions that all fast rules of locks ask before they take a history on: is it sorted by call (else throws),
// does no process call at the very instant of its last return, does no refused acquire speak of somebody else's hold,
// and are there fresh hold ids or no operations after one of unknown outcome?
bool is_plain(const Promise& promise, Operations operations);

Decision decide_by_segments(const Promise& promise, Operations operations, const Limits& limits, const Covers& covers,
                            const LockDecider& fast);

}  // namespace holdfast::objects
