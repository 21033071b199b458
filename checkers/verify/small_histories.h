// For tests: random histories of every kind, small enough to try every order, with certificates found by brute force.
#pragma once

#include <string>
#include <vector>

#include "checkers/objects/decision.h"
#include "checkers/oracle/oracle.h"
#include "harness/rng.h"

namespace holdfast::verify {

// One kind of object with one set of habits of its clients.
struct Habit {
  std::string name;
  objects::Promise promise;
  oracle::Simulation simulation;
  double lies = 0.0;   // how often an answer is replaced by another one
  double slips = 0.0;  // locks: how often an acquire was a release, …
};
const std::vector<Habit>& habits();

oracle::History random_history(const Habit& habit, std::size_t operations, Rng& rng);

// Only `core` is taken at its word.
oracle::History taken_at_word(objects::Operations operations, const std::vector<std::uint32_t>& core);

// Linearizable with a witness, or a violation with a minimal core: whatever is true.
objects::Decision certified(const objects::Promise& promise, objects::Operations operations, Rng& rng);

// Is the core what decision.h says that a core is?
enum class CoreFault : std::uint8_t { none, possible, not_minimal };
CoreFault fault_of_core(const objects::Promise& promise, objects::Operations operations,
                        const std::vector<std::uint32_t>& core);

}  // namespace holdfast::verify
