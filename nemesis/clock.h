// Sets a wall clock forward or back by a minute, past every lease, and then right again. Monotonic clocks stay as they
// are.
//
// On local nodes only the node's processes see it: the machine's clock is never touched. On hosts over SSH the real
// clock is set, and a timer there undoes it by itself when the controller is gone.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_clock_jump(const std::string& target, std::chrono::seconds by);

std::unique_ptr<Fault> make_clock(const std::string& target);       // "server" | "holder"; forward
std::unique_ptr<Fault> make_clock_back(const std::string& target);  // the same, back

}  // namespace holdfast
