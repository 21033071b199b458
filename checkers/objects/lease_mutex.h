// Lease mutex: acquire, renew and release by hold; the service may drop a hold lease_least after its last refresh and
// has dropped it lease_greatest after. Time counts here, not only order: a witness says when everything happened.
//
// Each hold becomes one job (hold_jobs.h), and the jobs are placed in time (lease_schedule.h): O(n log n) time and
// about 100 bytes per operation where acquires take less time than their leases, exact beyond that as long as not too
// many slow acquires that were never released overlap, undecided otherwise. Where there are no hold ids, every acquire
// of a process begins a hold.
//
// Refused acquires ("somebody holds it") are accepted when one of the holds explains them as it is placed; otherwise
// the history is undecided, since no exact rule is known. Violations: a hold that contradicts itself, two holds that
// certainly overlap, or a chain of leases each of which pushes the next until one comes too late.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

Decision decide_lease_mutex(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
