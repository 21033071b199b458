// Histories to measure checkers with: the object is really simulated, by clients that are busy all the time and whose
// requests take effect at a random moment between call and return. Everything follows from the recipe alone, so that a
// cell of the table can be made again anywhere. Memory: the history itself and a few hundred bytes per client.
//
// Unknown outcomes: half of the lost requests take effect (where the object could not go on otherwise, all or none
// do), the process is retired and a fresh one takes its place. What keeps locks going: an acquire of unknown outcome
// is followed by a release of the same hold, or it never happened; see locks.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::bench {

enum class Family : std::uint8_t {
  register_,     // reads and writes, every written value once
  register_few,  // … written values from a small domain: NP-complete, the general engine decides
  cas_register,  // … and compare-and-set; one that fails returns the value, and so is a read
  cas_refused,   // … one that fails only tells that the register did not hold the expected value
  kv,            // registers, eight keys at a time, each retired after a thousand operations
  mutex,         // a fresh hold id for every attempt
  reentrant,     // owners are processes, which are retired by unknown outcomes
  lease,         // a fresh hold id for every attempt, renewals, holds that expire, "you do not hold it"
  rw,
  semaphore,  // one or two permits at a time
  queue,      // every inserted value once; sometimes found empty
  reuse       // a mutex whose owners go on after unknown outcomes: NP-complete, the general engine decides
};
inline constexpr std::size_t kFamilies = 12;
std::string_view to_string(Family family);
std::optional<Family> family_named(std::string_view name);

struct Recipe {
  Family family = Family::register_;
  std::size_t operations = 1000;  // about so many: what was begun is finished
  std::uint32_t clients = 5;
  double unknown = 0;                    // the fraction of operations whose outcome is lost
  std::optional<std::size_t> violation;  // plant one as soon as so many operations were called
  std::uint64_t seed = 1;
};

struct Generated {
  objects::Promise promise;
  std::vector<objects::Operation> operations;  // by call, which are all different
  std::size_t unknown = 0;                     // how many outcomes were lost
};

// Throws std::runtime_error when the history ended before the violation could be planted, std::invalid_argument when
// the recipe makes no sense.
Generated generate(const Recipe& recipe);

// The parts of generate().
Generated generate_values(const Recipe& recipe);  // registers, queue
Generated generate_locks(const Recipe& recipe);   // mutex, reentrant, rw, semaphore, reuse
Generated generate_leases(const Recipe& recipe);

}  // namespace holdfast::bench
