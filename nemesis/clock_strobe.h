// Throws a wall clock to and fro between the true time and a minute ahead, a hundred times a second. Local nodes only.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_clock_strobe(const std::string& target);  // "server" | "holder"

}  // namespace holdfast
