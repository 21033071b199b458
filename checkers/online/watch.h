// Watch: looks at a run's events while they are recorded and says at which one a promise broke, the first at which
// judging everything up to there would say so too. Used by `holdfast run --stop-on-violation`; a run that stops early
// keeps the moment of the break close to the end of its history and logs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/event.h"

namespace holdfast::online {

struct Alarm {
  std::uint64_t event = 0;  // its index
  std::string because;
};

class Watch {
 public:
  virtual ~Watch() = default;
  // Events in the order of the history; an event that neither opens nor closes anything may be left out. After the
  // first alarm the watch has nothing more to say.
  virtual std::optional<Alarm> see(const Event& event) = 0;
};

// For the lock workload: two clients that believe to hold the same lock (the verdict `clients`). O(1) per event, memory
// for the holds that somebody believes in.
std::unique_ptr<Watch> watch_belief();

// For the register workload: each key is watched as a register (register_monitor.h). One whose values are not unique
// numbers is left to the judgement at the end.
std::unique_ptr<Watch> watch_registers();

// Null: nothing of this workload can be judged before its end.
std::unique_ptr<Watch> watch_for(std::string_view workload);

}  // namespace holdfast::online
