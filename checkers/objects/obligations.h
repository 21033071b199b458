// What the deciders of data objects (register, counter, set, queue, stack, priority queue) share: the minimal core of a
// contradiction, and the few cases in which the clock alone does not order the operations of one process.
//
// A core is made minimal on a small history: the candidates, and of everything else only what can matter to them once
// it is weakened. The reasons why an operation cannot matter stand beside the code that leaves it out. Divide and
// conquer (Junker, QuickXplain, AAAI 2004): O(k log(m / k)) decisions for a core of k out of m candidates.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkers/objects/decision.h"

namespace holdfast::objects {

using Decider = std::function<Decision(const Promise&, Operations, const Limits&)>;

// Sorts `core`, leaves a subset-minimal contradiction of it in the decision, and says what it is in words: `conclusion`
// follows the list of the core's members. `core` must be contradictory by itself (see decision.h). Work is bounded by a
// fixed number of operations looked at, after which the core is true but may not be minimal.
void conclude(Decision& decision, const Promise& promise, Operations operations, std::vector<std::uint32_t> core,
              const Decider& decider, const Limits& limits);

// A subset-minimal part of `candidates` (in their order) for which `impossible` is still true, given that it is for all
// of them and that more members never make it false.
std::vector<std::uint32_t> minimal_part(const std::vector<std::uint32_t>& candidates,
                                        const std::function<bool(const std::vector<std::uint32_t>&)>& impossible);

// Is the history impossible when only these operations are taken at their word? False also when that cannot be told.
bool contradictory(const Promise& promise, Operations operations, const std::vector<std::uint32_t>& core,
                   const Decider& decider, const Limits& limits);

// A violation of `rule` whose core is still to be found; from and to are put in order.
Decision violation(std::string rule, std::string conclusion, Instant from, Instant to);

// Runs `decider`, which orders operations by the clock alone. Where an operation of a process is called at the very
// instant at which the one before it returned, their order is still certain: then the decider's witness is looked at,
// and the search has the last word. Throws std::invalid_argument when the operations are not sorted by call.
Decision decide_in_program_order(const Promise& promise, Operations operations, const Decider& decider,
                                 const Limits& limits);

// search() on some of the operations; witness and core are numbers of the whole.
Decision search_some(const Promise& promise, Operations operations, const std::vector<std::uint32_t>& numbers,
                     const Limits& limits);

[[noreturn]] void refuse_operation(const Promise& promise, std::size_t number, const Operation& operation);

Decision out_of_time();

// A value as it is named in a sentence.
std::string in_words(std::int64_t value);

// Only state-changing operations survive weakening: see decision.h.
bool is_observation(const Operation& operation);
Operation weaken(Operation operation);

}  // namespace holdfast::objects
