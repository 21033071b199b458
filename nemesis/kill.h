// SIGKILL of a client or a server process. Healing is its return: a client's successor has opened, a server answers.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_kill(const std::string& target);  // "holder" | "server"

}  // namespace holdfast
