// The order in which the operations of a possible mutex history took effect: see mutex.h.
#pragma once

#include "checkers/objects/mutex_holds.h"

namespace holdfast::objects::locks {

// A refused acquire, and when in which core it found the lock held.
struct Sighting {
  std::uint32_t core = 0;
  std::uint32_t attempt = 0;
  Instant time = 0;
};

// Holds follow one another as they were made: points where they fit, refused releases at their call, the sightings
// (sorted by core, time and attempt) within their cores. Linear; nothing is sorted, for everything comes in order.
Numbers arrange(Operations operations, const Holds& holds, const std::vector<Sighting>& sightings);

}  // namespace holdfast::objects::locks
