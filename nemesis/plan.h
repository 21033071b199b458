// A fault plan: what to do, to whom, and when, as the user types it: FAULT[:TARGET[/PARAMETERS]][@TRIGGER]
//
//   pause                     the default target and trigger of the fault: pause:holder@reading
//   kill:holder@step:setnx-done
//   partition:c1>n1+n1>c2     any grudge: "a>b" drops what goes from a to b, "a-b" drops both ways
//   delay:holder/80ms~20ms    how bad it is to be
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/event.h"
#include "harness/system.h"

namespace holdfast {

struct FaultPlan {
  enum class When : std::uint8_t {
    at_times,      // @time: again and again, with gaps
    acquired,      // @acquired: a client was granted a lock
    reading,       // @reading: a client has read the guarded value and is about to write it
    acknowledged,  // @acknowledged: the primary acknowledged a grant
    step,          // @step:NAME: a client announced a step between two of its commands
  };
  std::string fault;   // a name of the table in nemesis/registry.h
  std::string target;  // what it means is the fault's business
  When when = When::at_times;
  std::string step;
};

std::string to_string(const FaultPlan& plan);

// UsageError that names the part it does not know, and the known ones. `system` is for the names of steps.
FaultPlan parse_fault_plan(std::string_view text, const SystemEntry& system);
std::vector<FaultPlan> parse_fault_plans(const std::vector<std::string>& texts, const SystemEntry& system);

// Does this event of a client set the plan off?
[[nodiscard]] bool sets_off(const FaultPlan& plan, const Event& event);

}  // namespace holdfast
