// A network interface of the calling process's own namespace.
#pragma once

#include <string>

namespace holdfast {

void bring_up(const std::string& interface);
void set_address(const std::string& interface, const std::string& address);  // IPv4, always a /24

}  // namespace holdfast
