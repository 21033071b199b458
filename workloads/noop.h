// The no-op workload: operations that do nothing, as fast as the clients answer. What remains is the harness's own
// cost.
#pragma once

#include "harness/workload.h"

namespace holdfast {

Workload noop_workload(const WorkloadOptions& options);

}  // namespace holdfast
