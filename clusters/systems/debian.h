// Server programs from Debian packages.
#pragma once

#include <string>

#include "harness/node.h"

namespace holdfast {

// Makes sure that `program` is there, installing `package` where we may. Debian starts a service when it installs
// one; that is held off, because servers run only where and as Holdfast starts them.
void need_program(Node& node, const std::string& program, const std::string& package);

}  // namespace holdfast
