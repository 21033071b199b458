// The slow and obviously right answer, for tests: try every order. And what to ask it about: all small histories, and
// random ones. Independent of the deciders; it stands on the sequential machines of checkers/verify alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkers/objects/decision.h"
#include "harness/rng.h"

namespace holdfast::oracle {

using History = std::vector<objects::Operation>;

// Is some order, with some choice of unknown operations that took effect, allowed? At most 20 operations; they must be
// sorted by call, and those of one process must follow one another. Not for lease_mutex.
bool possible(const objects::Promise& promise, objects::Operations operations);

// The history in which only the operations of `core` are taken at their word (see decision.h).
History weakened(objects::Operations operations, const std::vector<std::uint32_t>& core);

// The whole comparison: decides, compares with `truth`, re-checks the witness or the core with checkers/verify, and the
// core by definition: weakened it is still impossible, with one member less it is possible. `ask` answers for the
// weakened histories (usually `possible`). Returns what is wrong, with the history printed, or nothing.
using Truth = std::function<bool(const objects::Promise&, objects::Operations)>;
using Decider = std::function<objects::Decision(const objects::Promise&, objects::Operations, const objects::Limits&)>;
std::optional<std::string> disagreement(const objects::Promise& promise, objects::Operations operations,
                                        const Decider& decider, const Truth& truth = possible);

std::string print(const objects::Promise& promise, objects::Operations operations);

// Calls `visit` with every arrangement of the calls and returns of n operations in time (operations numbered by call,
// positions 0 … 2n-1), where operation i never returns if unknown[i].
void for_each_arrangement(const std::vector<bool>& unknown,
                          const std::function<void(const std::vector<objects::Instant>& call,
                                                   const std::vector<objects::Instant>& ret)>& visit);

// Random histories by running the real object: `processes` clients call at random times, the effect happens at a random
// moment between call and return, and the result is what the object really answered. `next` proposes a process's next
// operation (f, argument, hold; the rest is filled in), given how many operations the process has made; nullopt: it is
// done. An operation that the object does not allow at its moment is refused when `refusals` says that this tells
// something, and left out otherwise. Unknown outcomes come with probability `unknown`; they retire the process, unless
// the promise's identity lets it go on. Then `swaps` neighbouring events of different processes change places: that
// makes most violations.
struct Simulation {
  std::size_t operations = 8;
  std::uint32_t processes = 3;
  double unknown = 0.1;
  bool refusals = false;
  std::size_t swaps = 0;
  std::function<std::optional<objects::Operation>(Rng& rng, std::uint32_t process, std::size_t made)> next;
};
History simulate(const objects::Promise& promise, const Simulation& simulation, Rng& rng);

// Sorts by call and renumbers the instants as positions 0 … without changing their order; ties stay ties.
void normalise(History& history);

// How many random histories a test tries: 100,000 unless HOLDFAST_ORACLE_CASES says otherwise. At night it does.
std::uint64_t random_cases();

// How long the histories are of which a test tries all: `usual`, and five operations at night.
std::size_t all_up_to(std::size_t usual);

}  // namespace holdfast::oracle
