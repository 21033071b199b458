// Nemesis, as the runner sees it: somebody who watches the history live and may ask for a client to be held still
// until a fault is in place. What the faults are and when they strike is the business of nemesis/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/fault.h"
#include "harness/recorder.h"

namespace holdfast {

class Nemesis {
 public:
  virtual ~Nemesis() = default;  // heals everything

  // Faults may strike from now on. `release` lets a held lane go on; it may be called from any thread.
  virtual void start(Stage& stage, Recorder& recorder, std::function<void(std::size_t lane)> release) = 0;

  // Steps at which the client has to stop and tell before it goes on with `f`.
  [[nodiscard]] virtual std::vector<std::string> steps_to_stop_at(std::string_view f) = 0;

  // Every event of a client, in order, from the runner's thread. True: this event set off a fault that needs the
  // client to stand still; send it nothing until `release(lane)`.
  [[nodiscard]] virtual bool observe(std::size_t lane, const Event& event) = 0;

  // No new faults; heals all; returns when that is done. Throws Error when something would not heal.
  virtual void finish() = 0;
};

}  // namespace holdfast
