// Generators: what the clients do next. Composable, deterministic from a seed, and blind to the real clock: time
// comes in with each question, so a whole run can be simulated in virtual time without sleeping.
//
// The runner asks whenever a lane is free. A generator is used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/event.h"
#include "harness/rng.h"

namespace holdfast {

struct Invocation {
  std::string f;
  std::string key;
  Value value;
};

// Who asks, and when. A lane is one seat at the table; its process changes when an outcome is unknown.
struct Moment {
  Time now{};
  std::size_t lane = 0;
  std::size_t lanes = 1;
  Process process{};
};

struct Next {
  enum class Kind : std::uint8_t { operation, wait, done };
  Kind kind = Kind::done;
  Invocation operation;
  Time until = Time::max();  // for wait: ask again then, or as soon as anything is observed

  static Next invoke(Invocation operation) { return {.kind = Kind::operation, .operation = std::move(operation)}; }
  static Next wait_until(Time until) { return {.kind = Kind::wait, .operation = {}, .until = until}; }
  static Next done() { return {}; }
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual Next next(const Moment& moment) = 0;
  // Sees each completion and note of a client (with the moment of the lane it happened on), and each invocation
  // that came from this generator once it was really sent.
  virtual void observe(const Moment& moment, const Event& event) {
    static_cast<void>(moment);
    static_cast<void>(event);
  }
};

using GeneratorPtr = std::unique_ptr<Generator>;

// --- leaves
GeneratorPtr repeat(Invocation operation);  // for ever
GeneratorPtr from_function(std::function<Next(const Moment&)> function);
// --- combinators
GeneratorPtr mix(std::vector<std::pair<double, GeneratorPtr>> weighted, Rng rng);  // by weight; done when all are
GeneratorPtr stagger(Time mean_gap, GeneratorPtr inner, Rng rng);  // 0 … 2 × mean_gap between operations of all lanes
GeneratorPtr limit(std::size_t operations, GeneratorPtr inner);    // at most so many operations
GeneratorPtr time_limit(Time length, GeneratorPtr inner);          // from the first question on
GeneratorPtr phases(std::vector<GeneratorPtr> in_order);           // the next begins when every lane is done and idle
GeneratorPtr reserve(std::vector<std::pair<std::size_t, GeneratorPtr>> counted, GeneratorPtr rest);  // lanes by number
GeneratorPtr each_process(std::function<GeneratorPtr(const Moment&)> make);  // a fresh one per process
GeneratorPtr until_ok(GeneratorPtr inner);                                   // per process: done after its first ok

}  // namespace holdfast
