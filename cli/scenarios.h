// The catalogue: a real system, a fault at a chosen moment, and the verdict that an honest run must reach.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/event.h"

namespace holdfast {

struct Scenario {
  std::string_view id;  // "L05"
  std::string_view system;
  std::string_view summary;
  std::vector<std::string> faults;
  // What must come out, by property: "held" or "BROKEN". Properties that are not named may come out either way.
  std::vector<std::pair<std::string_view, std::string_view>> expected;
  Time lease = std::chrono::milliseconds(600);
  Time hold = std::chrono::milliseconds(120);
  Time time_limit = std::chrono::seconds(6);
  std::size_t concurrency = 4;
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(std::string_view id);  // null: no such id

}  // namespace holdfast
