// Simulation: drives a generator in virtual time, as the runner would in real time, without threads and without
// sleeping. For tests only.
//
// The outcome of an operation is decided at the moment of its invocation, so a simulated system that answers from its
// state then is linearizable by construction. Info retires the process: the lane goes on as process + lanes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/generator.h"

namespace holdfast {

struct SimulatedNote {
  Time after{};  // the invocation; a note of a process that was retired by then is not heard any more
  std::string f;
  Value value;
};

struct Outcome {
  Time latency = std::chrono::milliseconds(1);
  EventType type = EventType::ok;
  Value value = nullptr;
  Value error = nullptr;
  std::vector<SimulatedNote> notes = {};  // NOLINT(readability-redundant-member-init): may be left out
};

struct Simulation {
  std::size_t lanes = 1;
  std::function<Outcome(const Event& invocation)> perform = [](const Event&) { return Outcome{}; };
  Time end = std::chrono::hours(1);  // stop there, whatever is still open
};

struct Simulated {
  std::vector<Event> events;
  bool finished = false;      // every lane was told "done"
  Time now{};                 // when it ended
  std::size_t questions = 0;  // how often the generator was asked
};

// Throws Error when the generator misbehaves: when it waits for a moment that has passed, or when all lanes wait for
// something to be observed and nothing is under way.
Simulated simulate(Generator& generator, const Simulation& simulation);

}  // namespace holdfast
