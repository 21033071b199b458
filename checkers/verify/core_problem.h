// What is left of a history when only a core is taken at its word: a few lines of operations, and the search that tries
// all their orders. Used by refute_core() alone.
//
// Everything outside the core is optional, and an optional operation can be done at any time from its call on. So of
// equal ones the earliest is always the best choice, and a bound on how many can be of use bounds how many are kept.
// Each kind of object has its reasons why an operation cannot be of use; they stand beside the code that drops it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "checkers/objects/operation.h"
#include "checkers/verify/sequential.h"

namespace holdfast::verify {

using objects::Instant;
using objects::Operations;

struct Step {
  Operation operation;        // unknown: optional; else it must be done
  bool and_released = false;  // a lock is given back in the same instant: only that it was granted matters
};

// Steps that are done in this order; optional ones may be passed over. The calls do not decrease.
struct Line {
  std::vector<Step> steps;
  bool endless = false;  // one optional step that can be done again and again
};

struct Problem {
  std::vector<Line> lines;
  std::optional<std::vector<std::vector<std::int64_t>>> sets;  // instead of the promise's
  // Is it of any use to be in this state after an optional step? Empty: always.
  std::function<bool(const Machine&)> worthwhile;
};

// The operations of a history, and which of them are in the core.
struct Weakened {
  const Promise& promise;
  Operations operations;
  std::vector<bool> in_core;
  std::size_t core_size = 0;

  Weakened(const Promise& its_promise, Operations its_operations, const std::vector<std::uint32_t>& core);
  // Calls `visit(index, operation)` for the core as it is and for all others weakened; what disappears is left out.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (in_core[i]) {
        visit(i, operations[i]);
      } else if (!disappears(operations[i])) {
        visit(i, weak(operations[i]));
      }
    }
  }
  template <typename Visit>
  void for_each_in_core(Visit&& visit) const {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (in_core[i]) visit(operations[i]);
    }
  }

 private:
  static bool disappears(const Operation& operation);
  static Operation weak(Operation operation);
};

// For Classes::move_to(): every operation is counted.
inline constexpr Instant kNoneEndless = std::numeric_limits<Instant>::min();

// Collects equal optional operations: at most `most` of each, the earliest.
class Classes {
 public:
  explicit Classes(const Promise& promise) : promise_(promise) {}
  void add(const Operation& operation, std::size_t most);
  // An operation of which `most` could be done before anything of the core returned never runs out.
  void move_to(std::vector<Line>& lines, Instant first_return);

 private:
  struct Class {
    Line line;
    std::size_t most = 0;
  };
  const Promise& promise_;
  std::vector<Class> classes_;
  std::map<std::tuple<objects::Call, std::int64_t, std::int64_t, std::uint32_t>, std::size_t> numbers_;
};

// One line for each process of the core, without anything optional.
std::vector<Line> core_lines(const Weakened& weakened);
Instant first_return(const Weakened& weakened);
// Does it only look, whatever it sees?
bool is_observation(const Promise& promise, const Operation& operation);
// Do the two do the same to the object, whoever called them?
bool same_effect(const Promise& promise, const Operation& one, const Operation& other);

Problem arrange_data(const Weakened& weakened);
Problem arrange_lock(const Weakened& weakened);

enum class Possibility : std::uint8_t { possible, impossible, unclear };

// Tries all orders; unclear when that would be too many.
Possibility search_order(const Promise& promise, const Problem& problem);

// Proofs for cores that are too large to try all orders; they answer `unclear` where they do not apply.
Possibility count_up(const Weakened& weakened);      // counter, anonymous locks: one number says it all
Possibility add_up_holds(const Weakened& weakened);  // locks: what is certainly held at one instant

// lease_mutex: holds as stretches of time. Defined for every core of at most 8 holds.
Possibility place_leases(const Weakened& weakened);

}  // namespace holdfast::verify
