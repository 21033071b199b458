// The register workload: reads and writes of plain keys, half and half, as fast as the clients answer. It measures what
// the harness can drive; a system that keeps registers speaks it as
//   read -> ok with the value (null: never written)      write, value 17 -> ok
// Written values are unique in a run.
#pragma once

#include "harness/workload.h"

namespace holdfast {

Workload register_workload(const WorkloadOptions& options);

}  // namespace holdfast
