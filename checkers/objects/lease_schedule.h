// Places the jobs of a lease mutex (hold_jobs.h) in time so that no two of them overlap, or says which cannot be.
//
// Cored jobs have to come in the order of their latest starts, because each certainly holds at some time; placing each
// as early as it can go is best. A point that would lie strictly inside a job has to come before it, so the job waits
// for it. O(n log n). Where an acquire took longer than its lease the order is open: with two lengths of leases that
// problem is NP-complete (Elffers, de Weerdt), so only the stretch of jobs around it that can touch one another is
// decided by a dynamic programme over the sets of such jobs done so far, for each the earliest end; a job is not begun
// while another could be finished before. Exponential in the number of such acquires that overlap, linear in everything
// else.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checkers/objects/decision.h"
#include "checkers/objects/hold_jobs.h"

namespace holdfast::objects {

struct Schedule {
  enum class Result : std::uint8_t { placed, impossible, too_many, stopped };
  Result result = Result::placed;
  std::vector<Instant> starts;          // placed: of each job
  std::vector<std::uint32_t> culprits;  // impossible: numbers of jobs that cannot all be placed; the latest first
                                        // where their order is forced
  Instant from = 0;                     // not placed: where the trouble begins
};

// `refusals(job)`: the intervals [a, b] such that the job's start is at or after a, or it is over by b.
using RefusalsOf = std::function<std::vector<std::pair<Instant, Instant>>(const Job& job)>;

Schedule place_jobs(const std::vector<Job>& jobs, const RefusalsOf& refusals, const Limits& limits);

}  // namespace holdfast::objects
