// Quoting for a POSIX shell: every byte that reaches a host's shell from outside goes through here.
//
// sshd hands the one string of an `exec` request to the user's shell, so a command over SSH has no argv of its own. All
// arguments are put between single quotes, without a list of "harmless" characters that could be wrong.
#pragma once

#include <string>
#include <string_view>

#include "harness/node.h"

namespace holdfast {

std::string quote(std::string_view argument);  // Error for a NUL, which no shell can pass on

// One simple command: the environment holds PATH, HOME, LANG and what the command asks for, nothing else.
// Error when argv is empty, when the program's name has a '=', or when a variable is not NAME=value.
std::string shell_command(const Command& command);

}  // namespace holdfast
