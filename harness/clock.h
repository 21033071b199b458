// NodeClock: clocks of a node's own that a fault may set, without a change of the machine's.
//
// The wall clock may jump and drift. The monotonic clock never jumps: it only runs faster or slower, and only when
// asked; when that is healed it keeps what it has gained, because it must not go back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast {

class NodeProcess;

// One clock as one process was told it.
struct ClockReading {
  bool current = false;              // it has read the clock since the last change of it
  std::uint32_t changes = 0;         // how many settings it has met in its life
  std::chrono::nanoseconds at{};     // when, in true time of that clock
  std::chrono::nanoseconds ahead{};  // how far what it was told was ahead of that
};

struct ClockReadings {
  ClockReading wall;
  ClockReading monotonic;
};

// Thread-safe.
class NodeClock {
 public:
  virtual ~NodeClock() = default;
  virtual void jump(std::chrono::nanoseconds by) = 0;
  // From now on each second of the machine is 1 + `wall` and 1 + `monotonic` seconds of the node. Both above -1.
  virtual void drift(double wall, double monotonic) = 0;
  virtual void heal() = 0;  // the wall clock is right again; both run as fast as the machine's
  // What the processes of this group were last told; empty when none of them ever asked for the time.
  [[nodiscard]] virtual std::optional<ClockReadings> told(const NodeProcess& process) = 0;
};

}  // namespace holdfast
