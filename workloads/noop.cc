#include "workloads/noop.h"

#include "checkers/stats.h"

namespace holdfast {

Workload noop_workload(const WorkloadOptions& options) {
  Workload workload;
  workload.generator = time_limit(options.time_limit, repeat({.f = "noop", .key = {}, .value = nullptr}));
  workload.checkers.push_back(std::make_unique<StatsChecker>(LockCheckOptions{.faults = options.faults}));
  return workload;
}

}  // namespace holdfast
