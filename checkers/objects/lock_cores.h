// The minimal core of a contradiction among holds.
//
// Once weakened, a hold of which nothing is left that is known may never have been there at all, and then it is in
// nobody's way. So a core is made minimal on the holds that it speaks of alone: divide and conquer (Junker,
// QuickXplain, AAAI 2004) with the decider itself as the judge, O(k log(m / k)) decisions of small histories for k out
// of m.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkers/objects/decision.h"
#include "checkers/objects/hold_jobs.h"

namespace holdfast::objects {

using LockDecider = std::function<Decision(const Promise&, Operations, const Limits&)>;

// The operations among which a core is looked for: a small history by itself.
struct Arena {
  std::vector<Operation> operations;         // by call
  std::vector<std::uint32_t> numbers;        // in the whole history
  std::vector<std::int64_t> weak_arguments;  // empty, or of each operation when it is weakened
};
// All operations of these holds, with the number of the hold as id.
Arena arena_of(Operations operations, const HoldGroups& holds, std::vector<std::uint32_t> chosen);

// A violation of `rule`; the sentence is "{0} and {1} cannot both be true: " and the conclusion.
Decision lock_violation(std::string rule, std::string conclusion, Instant from, Instant to);

// Sets the core to these operations, which are known to be a minimal one.
void set_core(Decision& decision, std::vector<std::uint32_t> core);

// Makes the arena's numbered operations minimal and sets them as the core. `decider` is asked under Identity::hold.
void find_core(Decision& decision, const Promise& promise, const Arena& arena, const LockDecider& decider,
               const Limits& limits);
// The same, asked as the promise says. `likely`: numbers that are tried first, they may be contradictory by themselves.
void find_core_as(Decision& decision, const Promise& promise, const Arena& arena, const LockDecider& decider,
                  const Limits& limits, const std::vector<std::uint32_t>& likely = {});

}  // namespace holdfast::objects
