// The slow and obviously right answer for leases, for tests: step through time.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::oracle {

// Is the history possible for a mutex whose holds may be dropped by the service lease_least after their last refresh
// (or as long as their acquire's argument says), and are gone lease_greatest after it? Tries every whole instant from
// the first call to the last return: for a fixed order all constraints are differences of whole numbers, so if any
// placement exists, one on whole numbers does. At most 20 operations, sorted by call, at small instants.
bool lease_possible(const objects::Promise& promise, objects::Operations operations);

}  // namespace holdfast::oracle
