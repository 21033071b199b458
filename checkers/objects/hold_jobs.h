// One hold of a lock, reduced to what every legal placement of it in time must contain (algorithms: jobs on one machine
// with release times and deadlines; Garey, Johnson, Simons, Tarjan 1981 for the leases). A hold becomes at most one
// job:
//
//   core   it certainly holds from `hi` to `end(lo)`, and holding exactly that long is possible
//   point  it holds at some instant of [lo, hi], and need not hold any longer than that
//   slide  it begins at some instant s of [lo, hi] and ends at end(s): a lease that nobody renewed. Cored when it
//          certainly holds at some time, that is hi < end(lo); coreless when the acquire took longer than the lease.
//
// Reading all holds takes O(n) time and 8 bytes per operation; reducing one takes time linear in its operations, and
// in addition one comparison for each pair of a refusal and a use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkers/objects/decision.h"

namespace holdfast::objects {

constexpr Instant later_by(Instant start, Instant length) {
  return length == kNever || (start > 0 && start > kNever - length) ? kNever : start + length;
}

// The operations of each hold, by call. Where owners have hold ids those tell which; otherwise every acquire that was
// not refused (fair lock: every ticket) begins a hold of its process, and what follows speaks of that one. Refused
// acquires that only say "somebody holds it" belong to no hold.
struct HoldGroups {
  std::vector<std::uint32_t> first;  // hold h has members first[h] … first[h + 1] - 1
  std::vector<std::uint32_t> member;
  [[nodiscard]] std::size_t size() const { return first.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t hold) const {
    return std::span(member).subspan(first[hold], first[hold + 1] - first[hold]);
  }
};
HoldGroups group_holds(const Promise& promise, Operations operations);

// Must a take effect before b? By the clock, or because one process did one after the other.
inline bool precedes(Operations operations, std::uint32_t a, std::uint32_t b) {
  return operations[a].ret < operations[b].call || (a < b && operations[a].process == operations[b].process &&
                                                    !operations[a].unknown() && !operations[b].unknown());
}

struct Job {
  enum class Shape : std::uint8_t { nothing, point, stretch };
  Instant lo = 0;
  Instant hi = 0;
  Instant length = kNever;  // of the lease
  Instant cap = kNever;     // it may be released from here on
  std::uint32_t hold = 0;
  Shape shape = Shape::nothing;
  bool start_has_gap = false;  // not every start of [lo, hi] agrees with what the refusals of this hold say

  [[nodiscard]] Instant end(Instant start) const {
    if (shape == Shape::point) return start;
    return std::max(start, std::min(cap, later_by(start, length)));
  }
  [[nodiscard]] bool cored() const { return shape == Shape::stretch && hi < end(lo); }
  [[nodiscard]] Instant core_end() const { return end(lo); }
};

enum class HoldFault : std::uint8_t {
  none,
  never_acquired,  // used, but no acquire of it was called by then
  released_twice,  // released, and used again with success
  regained,        // "not held", and later used with success
  lost_early,      // "not held" although it was not released and its lease cannot have ended
  outlived         // used although its lease must have ended
};

struct LeaseTerms {
  Instant least = kNever;
  Instant greatest = kNever;
};
// What the promise says of the lease of the hold with this acquire.
LeaseTerms lease_terms(const Promise& promise, const Operation& acquire);

// The operations of one hold by what they are.
struct HoldParts {
  std::uint32_t acquire = kNone;          // ok or unknown
  std::uint32_t release = kNone;          // the first that was answered ok
  std::uint32_t unknown_release = kNone;  // the earliest
  Instant latest_start = kNever;          // the least return of the acquire and the uses
  Instant earliest_last_use = 0;          // the greatest call of the acquire and the uses
  std::uint32_t uses = 0;                 // renewals and releases answered ok
  std::uint32_t releases = 0;             // answered ok
  bool refusals = false;
  bool unknown_renewals = false;
};
HoldParts parts_of(Operations operations, std::span<const std::uint32_t> hold);

struct Reduced {
  Job job;
  HoldFault fault = HoldFault::none;
};
Reduced reduce_hold(Operations operations, std::span<const std::uint32_t> members, const LeaseTerms& lease,
                    std::uint32_t hold);

// Where an operation stands in a witness: by instant; at one instant first what belongs to a hold that ends there, then
// the holds that begin and end there one after the other, then the one that begins there and lasts. What stands in
// nobody's way comes before all of that.
enum class Phase : std::uint64_t { free, freeing, ending, instantaneous, beginning };
constexpr std::uint64_t rank_of(Phase phase, std::uint32_t hold, std::uint64_t step = 0) {
  return static_cast<std::uint64_t>(phase) << 40U | std::uint64_t{hold} << 3U | step;
}
struct Place {
  Instant at = 0;
  std::uint64_t rank = 0;
  std::uint32_t operation = 0;
  friend bool operator<(const Place& a, const Place& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.rank != b.rank ? a.rank < b.rank : a.operation < b.operation;
  }
};
// Appends the places of a hold's operations when the job begins at `start`.
void place_hold(Operations operations, std::span<const std::uint32_t> members, const LeaseTerms& lease, const Job& job,
                Instant start, std::vector<Place>& places);
// Sorts, and writes the witness (and when asked the instants) into the decision.
void write_witness(std::vector<Place>& places, bool instants, Decision& decision);

}  // namespace holdfast::objects
