// The table of workloads: one line per workload a user can name.
#pragma once

#include <span>
#include <string_view>

#include "harness/workload.h"

namespace holdfast {

std::span<const WorkloadEntry> workloads();
const WorkloadEntry& find_workload(std::string_view name);  // UsageError that names the nearest

}  // namespace holdfast
