// LockHistory: a history of the lock vocabulary as holds, key by key. A hold is one acquire attempt that was granted,
// or may have been, with everything that names it. O(n) for n events.
//
// Two intervals matter and must not be mixed up. *Belief* is the client's: from the answer to its acquire to the call
// of its release, or `lost`, or its death. *Certainty* is the service's: the time in which a correct lock service must
// still count the hold as held, lease and release considered. A paused client goes on believing after certainty ended.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/checker.h"

namespace holdfast {

inline constexpr Time kNever = Time::max();

// a + b where either may be kNever.
constexpr Time later_by(Time a, Time b) {
  return a >= kNever - b ? kNever : a + b;
}

// The shortest time for which a server keeps a lease: one percent for its clock, 10 ms for its timers.
constexpr Time certain_lease(Time lease) {
  const Time least = lease / 100 * 99 - std::chrono::milliseconds(10);
  return least > Time{} ? least : Time{};
}

// A note carries the time at which the controller read it; the renewal it announces may have reached the server this
// much earlier when the controller was slow. Without the allowance a loaded machine would make correct locks look
// broken.
inline constexpr Time kNoteDelay = std::chrono::milliseconds(100);

struct Interval {
  Time from{};
  Time to{};  // kNever: open
  [[nodiscard]] bool empty() const { return from >= to; }
  [[nodiscard]] bool overlaps(const Interval& other) const {  // in more than one instant
    return std::max(from, other.from) < std::min(to, other.to);
  }
};

struct Renewal {    // one that was granted
  Interval window;  // the server took it within
  const Event* renewing = nullptr;
  const Event* renewed = nullptr;
};

struct Hold {
  std::uint64_t id = 0;
  bool named = true;  // false: the history has no hold ids, and this one is the number of the acquire's event
  Process process{};
  const Operation* acquire = nullptr;  // ok or unknown, never failed
  std::vector<const Operation*> releases;
  std::vector<Renewal> renewals;
  std::vector<const Operation*> accesses;  // reads and writes at the guarded resource
  std::optional<std::int64_t> token;
  std::optional<Time> lease;
  const Event* exited = nullptr;      // its client died after the acquire was sent
  Interval believed;                  // empty unless granted
  const Event* belief_end = nullptr;  // the event that ended belief; null: the end of the history

  [[nodiscard]] bool granted() const { return acquire->ok(); }
  [[nodiscard]] const std::string& key() const { return acquire->invoke->key; }
  [[nodiscard]] const std::string& node() const { return acquire->invoke->node; }
  [[nodiscard]] Time least_lease() const { return lease ? certain_lease(*lease) : kNever; }
  [[nodiscard]] Time lease_end() const;             // the server may drop it from here on; kNever without a lease
  [[nodiscard]] Interval certain() const;           // empty unless granted
  [[nodiscard]] const Operation* released() const;  // the release that was answered ok, or null
  [[nodiscard]] std::string describe() const;       // "process 3 (hold 12)"
  [[nodiscard]] std::vector<std::uint64_t> events() const;  // those that say when it was held
};

struct LockKey {
  std::vector<Hold> holds;                 // by invocation of the acquire
  std::vector<const Operation*> attempts;  // every acquire, failed ones too
  std::vector<const Operation*> strays;    // releases and accesses of holds that were never asked for, or refused

  // Liveness can only be judged against a time: the longest lease plus a second, or two seconds without leases.
  [[nodiscard]] Time patience() const;
};

struct LockHistory {
  std::map<std::string, LockKey> keys;
  std::unordered_map<std::int64_t, const Event*> exits;       // by process
  std::unordered_map<std::int64_t, const Event*> last_steps;  // by process: the last step it announced
  Time end{};
};

// The history must outlive the result. Throws Error when a hold id is used for two acquires, or when time is up.
LockHistory lock_history(const History& history, const Budget& budget);

// "error" may be a plain string or an object with a "type".
bool has_error(const Operation& operation, std::string_view error);

std::string seconds_text(Time at);         // "1.234 s"
std::string milliseconds_text(Time span);  // "112 ms"
double milliseconds(Time span);

}  // namespace holdfast
