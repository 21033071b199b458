// Refused acquires of a mutex ("somebody holds it") as observations: see mutex.h. They want the lock held and thus,
// other than all else, prefer long holds.
#pragma once

#include "checkers/objects/mutex_holds.h"

namespace holdfast::objects::locks {

// Decides a history that is possible without its refused acquires. O(n), but for the stretches that are searched: those
// with a refused acquire that no shortest hold explains, and in which an acquire of unknown outcome, reentrancy, or a
// clock too coarse to order the operations of a process leave more than one explanation.
Decision decide_attempts(const Promise& promise, Operations operations, const Owners& owners, Holds& holds,
                         const Limits& limits);

// The core and the words for refused acquires that nobody can have caused. `found` is what the search says of the
// stretch that begins at operation `begin`; what came before has to be proven to be over.
Decision phantom(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most,
                 Decision found, std::size_t begin, const Limits& limits);

}  // namespace holdfast::objects::locks
