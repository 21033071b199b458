// SIGSTOP of a client or a server process and all its children. What the stopped process is told meanwhile waits in
// its pipe or socket; the rest of the world goes on, leases run out.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_pause(const std::string& target);  // "holder" | "server"

}  // namespace holdfast
