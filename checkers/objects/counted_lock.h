// Locks that count: every hold weighs something, and at no instant may more than the capacity be held. A semaphore
// counts permits; a read-write lock counts readers as one and a writer as everything there is.
//
// Holds are reduced to cores and points (hold_jobs.h). Cores are part of every linearization and can be met exactly, so
// their sum at each instant is a lower bound that is attained; points last no time and are in nobody's way. Hence: the
// history is possible if and only if the cores never weigh more than the capacity, and every point has an instant in
// its window at which the cores leave it enough. O(n log n) time, about 60 bytes per operation.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

struct CountedLock {
  std::int64_t capacity = 0;
  std::int64_t (*weight)(const CountedLock& lock, const Operation& acquire) = nullptr;
  bool (*covers)(const Promise& promise, Operations operations) = nullptr;  // a weakened part; else it is searched
  const char* overfull = "";                                                // the conclusion when cores collide
  const char* no_room = "";                                                 // … and when there is no room for a point
};

// The history must be plain (lock_segments.h), and every release must give back all that its hold has, unless a hold
// consists of one ok acquire and ok releases, each called after the last one returned.
Decision decide_counted(const CountedLock& lock, const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
