// Whose clock a fault sets, and what that process was told by it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/clock.h"
#include "harness/fault.h"

namespace holdfast {

struct ClockTarget {
  Node* node = nullptr;
  std::function<NodeProcess*()> process;  // a server may have been started anew meanwhile; null: not running now
  Value description;
  // How long it is worth to wait for it to look at the clock. A client that set a fault off is held still meanwhile:
  // it cannot look, and to keep it longer would itself be a fault. The probe before healing sees what it did.
  std::chrono::milliseconds patience{};
};

// "holder": the client that set the fault off; "server": a primary.
ClockTarget clock_target(const std::string& target, Stage& stage, std::optional<std::size_t> lane, Rng& rng);

// The node's own clock. Error when it has none.
NodeClock& own_clock(Node& node);
// Throws what own_clock() would for any node that `target` may come to mean.
void need_own_clocks(const std::string& target, Cluster& cluster);

// What the process was told, at the latest: waits until it has read the clocks since the last change, if it ever does.
enum class Clocks : std::uint8_t { wall, both };
ClockReadings told(const ClockTarget& target, Clocks clocks = Clocks::wall);
double in_seconds(std::chrono::nanoseconds time);

// How far the node's wall clock is ahead of ours, to within the time that asking takes.
double wall_ahead(Node& node);

// After healing: the wall clock is right for the process, or for a new one when it did not ask meanwhile.
Effect wall_is_right(const ClockTarget& target);

}  // namespace holdfast
