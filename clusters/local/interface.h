// A network interface of the calling process's own namespace.
#pragma once

#include <string>

namespace holdfast {

void bring_up(const std::string& interface);

}  // namespace holdfast
