// A small exact drawing of one finding: who believed to hold what, which fault was in place, and the events that prove
// it, on one time axis. SVG inside the page, coloured by the page's style sheet, so it follows light and dark.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "results/holds.h"
#include "results/results.h"

namespace holdfast {

// What every drawing of a run needs, found once.
class Drawing {
 public:
  Drawing(const History& history, const std::vector<FaultRecord>& faults);

  // Empty when none of the finding's events belongs to a client.
  [[nodiscard]] std::string svg(const Finding& finding) const;
  [[nodiscard]] const Event* event(std::uint64_t index) const;  // null: no such event

 private:
  const History& history_;
  const std::vector<FaultRecord>& faults_;
  std::vector<BelievedHold> holds_;
  std::unordered_map<std::uint64_t, const Event*> by_index_;
};

}  // namespace holdfast
