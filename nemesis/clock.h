// Sets a server's wall clock forward, past every lease, and back again. Only for nodes with a clock of their own: local
// nodes share this machine's, which Holdfast never touches.
//
// On the node a timer undoes the jump by itself when the controller is gone.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_clock(const std::string& target);  // "server"

}  // namespace holdfast
