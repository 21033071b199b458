// Clocks that run too fast: the wall clock alone, or all of a node's time, as with a bad oscillator. Local nodes only.
//
// Healing sets the wall clock right. The monotonic clock goes on from where it is, at the right speed.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

// Each second of the machine becomes 1 + `wall` and 1 + `monotonic` seconds of the node.
std::unique_ptr<Fault> make_drift(const std::string& target, double wall, double monotonic);

std::unique_ptr<Fault> make_clock_drift(
    const std::string& target);  // "server" | "holder"; the wall clock, twice as fast
std::unique_ptr<Fault> make_clock_rate(const std::string& target);  // both, twice as fast

}  // namespace holdfast
