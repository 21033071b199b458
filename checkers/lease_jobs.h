// The exact check of a mutex with leases and unknown outcomes, on bare times (algorithms: release times and deadlines
// on one machine). Each hold becomes at most one job that has to be placed in time; the history is possible for a
// correct lock if and only if all jobs can be placed without two of them overlapping.
//
//   core   it certainly held from `hi` to end(lo); its start may slide between lo and hi
//   point  it held at some instant of [lo, hi], perhaps for no longer than that
//
// Exact for every hold whose acquire took less time than its lease. A slower one is *coreless*: deciding those exactly
// is NP-complete, so they are relaxed to a point ("may expire a lease after the invocation"), which never raises a
// false alarm and misses only what hinges on the exact instant of the grant. A lease may end late without limit.
// O(n log n) for n holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/lock_history.h"

namespace holdfast {

// When an operation can have taken effect, and where its two events stand in the history. ret is kNever while unknown.
struct Window {
  Time inv{};
  Time ret = kNever;
  std::uint64_t inv_index = 0;
  std::uint64_t ret_index = UINT64_MAX;
};

enum class ReleaseAnswer : std::uint8_t { ok, not_held, unknown };

struct HoldEvidence {
  Window acquire;
  bool acquire_ok = true;        // false: nobody knows
  std::vector<Window> renewals;  // granted ones
  std::vector<std::pair<Window, ReleaseAnswer>> releases;
  Time least_lease = kNever;
};

struct Job {
  bool point = false;
  Time lo{};
  Time hi{};
  Time length = kNever;  // of the lease
  Time cap = kNever;     // it may have been released from here on
  std::size_t hold = 0;
  [[nodiscard]] Time end(Time start) const { return std::max(start, std::min(cap, later_by(start, length))); }
  [[nodiscard]] Interval core() const { return {.from = hi, .to = end(lo)}; }
};

enum class HoldFault : std::uint8_t {
  none,
  used_after_release,  // released, and later released or renewed again with success
  regained,            // "not held", and later released or renewed with success
  lost_early           // "not held" although its lease cannot have ended
};

struct Reduced {
  HoldFault fault = HoldFault::none;
  std::optional<Job> job;  // none: it need not have held at all
  bool relaxed = false;    // coreless
};

Reduced reduce_hold(const HoldEvidence& evidence, std::size_t hold);

// Holds that cannot all have been granted. With two, their certain times collide; with more, each pushes the next.
struct Conflict {
  std::vector<Job> jobs;  // in time order
};

// At most `limit` of them; each stands on its own.
std::vector<Conflict> lease_check(const std::vector<Job>& jobs, std::size_t limit);

}  // namespace holdfast
