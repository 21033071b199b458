// What the deciders of locks with owners share: who the owners are, how often each of them certainly holds the lock,
// where a history falls apart into independent stretches, and how a contradiction is made minimal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkers/objects/decision.h"

namespace holdfast::objects::locks {

using Numbers = std::vector<std::uint32_t>;

// How many operations are looked at between two looks at the limits.
inline constexpr std::size_t kStride = std::size_t{1} << 16U;
inline bool stopped_at(std::size_t number, const Limits& limits) {
  return number % kStride == 0 && limits.reached();
}
// The answer when a limit was reached.
Decision out_of_limits(std::string_view what);

// Numbers the owners 0, 1, …: processes, or hold ids where every attempt has a fresh one.
class Owners {
 public:
  Owners(const Promise& promise, Operations operations) : Owners(operations, promise.identity == Identity::hold) {}
  Owners(Operations operations, bool by_hold);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t of(const Operation& operation) const {
    const std::uint32_t id = by_hold_ ? operation.hold : operation.process;
    return ids_.empty() ? id : place(id);
  }

 private:
  [[nodiscard]] std::uint32_t place(std::uint32_t id) const;
  bool by_hold_;
  std::size_t size_ = 0;
  Numbers ids_;  // sorted; empty when the ids themselves are small enough
};

// Some operations that contradict one another.
struct Contradiction {
  std::string rule;
  Numbers part;             // all operations that can matter, by number
  std::uint32_t first = 0;  // the known ones from here on are candidates for the core, those before only weakened
  Instant from = 0;
  Instant to = 0;
};

// The least number of times that each owner holds the lock after each of its operations, when the service takes the
// requests of an owner in order (algorithm: backwards the interval [least, greatest] of counts from which the rest of
// the session is possible, forwards the path that stays lowest; it is lowest at every point). O(n) time, O(owners +
// unknown operations) memory. Refused acquires say nothing about their owner and are passed over.
class Paths {
 public:
  // `most`: how often one owner can hold it.
  Paths(Operations operations, const Owners& owners, std::uint32_t most, const Limits& limits);

  [[nodiscard]] bool stopped() const { return stopped_; }
  // A session that is impossible by itself.
  [[nodiscard]] const std::optional<Contradiction>& contradiction() const { return contradiction_; }

  // To be asked once for each operation, in order, refused acquires excepted: does it take effect on the lowest path?
  // Counts it, if so.
  bool takes(const Operation& operation, std::uint32_t owner) {
    std::uint32_t& count = counts_[owner];
    if (operation.unknown()) {
      const std::uint32_t least = least_after_unknown_.back();
      least_after_unknown_.pop_back();
      if (operation.f == Call::acquire ? count >= least : count == 0 || count - 1 < least) return false;
    } else if (operation.refused()) {
      return true;
    }
    operation.f == Call::acquire ? ++count : --count;
    return true;
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t owner) const { return counts_[owner]; }

 private:
  struct Bounds {
    std::int64_t least = 0;
    std::int64_t greatest = 0;
  };
  void look_back(Operations operations, const Owners& owners, std::int64_t most, const Limits& limits);
  void explain(Operations operations, const Owners& owners, std::int64_t most, std::size_t first, bool from_nothing);

  Numbers least_after_unknown_;  // of the unknown operations, the last one first
  Numbers counts_;
  std::optional<Contradiction> contradiction_;
  bool stopped_ = false;
};

// The operations `part`, only those of `kept` (sorted) taken at their word: see decision.h.
std::vector<Operation> weakened_part(Operations operations, const Numbers& part, const Numbers& kept);

// Is the history of these operations impossible?
using Impossible = std::function<bool(Operations)>;

// Drops members of the core as long as the part stays impossible; the members that come last are dropped first. Leaves
// a subset-minimal core, unless the limits are reached before, or a fixed number of operations has been looked at: then
// one that is true but perhaps not minimal.
void minimise(Operations operations, const Numbers& part, Numbers& core, const Impossible& impossible,
              const Limits& limits);

// The candidates for the core, acquires first: what `minimise` is to begin with.
Numbers candidates(Operations operations, const Contradiction& contradiction);

// "{0}", "{0} and {1}", "{0}, {1} and {2}": places of these operations in the core. Of many only the first few.
std::string named(const Numbers& core, const Numbers& members);

// Rule and words for a core that lies within one session.
void explain_session(Operations operations, std::uint32_t most, Decision& decision);

// The beginnings of independent stretches: at each of them no known operation is under way, no unknown one can still
// take effect, and nobody can hold the lock. The first is 0; the end of the history is the last.
Numbers stretches(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most);

// Operations before number `end`, returned before the instant `then`, that together prove that no owner can hold
// anything at that instant even when all others are weakened; where nobody can hold anything then.
Numbers proof_of_freedom(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most,
                         std::size_t end, Instant then);

// search() on the operations [begin, end); witness and core are numbers of the whole.
Decision search_stretch(const Promise& promise, Operations operations, std::size_t begin, std::size_t end,
                        const Limits& limits);

[[noreturn]] void refuse_call(const Promise& promise, std::size_t number, const Operation& operation);

}  // namespace holdfast::objects::locks
