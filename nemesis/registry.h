// The table of faults: one line per fault a user can name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/fault.h"
#include "nemesis/plan.h"

namespace holdfast {

struct FaultTarget {
  std::string_view name;
  std::string_view summary;
  FaultPlan::When when;    // the trigger it has when none is given
  bool client_of_trigger;  // hits the client that set the trigger off
};

struct FaultEntry {
  std::string_view name;
  std::string_view summary;
  std::vector<FaultTarget> targets;  // the first is the default
  std::unique_ptr<Fault> (*make)(const std::string& target) = nullptr;
  bool takes_links = false;       // a target may also be a list of links between nodes
  bool takes_parameters = false;  // "/" and how bad it is to be may follow the target
};

std::span<const FaultEntry> faults();
const FaultEntry& find_fault(std::string_view name);  // UsageError that lists the nearest names

}  // namespace holdfast
