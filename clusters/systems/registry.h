// The table of systems: one line per system a user can name.
#pragma once

#include <span>
#include <string_view>

#include "harness/system.h"

namespace holdfast {

std::span<const SystemEntry> systems();
const SystemEntry& find_system(std::string_view name);  // UsageError that lists the nearest names

}  // namespace holdfast
