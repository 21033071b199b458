#include "workloads/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"
#include "harness/nearest.h"
#include "workloads/lock.h"
#include "workloads/noop.h"
#include "workloads/register.h"

namespace holdfast {

namespace {

constexpr std::array kTable = {
    WorkloadEntry{.name = "lock",
                  .summary = "contend for locks; read and change a guarded resource while holding one",
                  .model = "lease-mutex",
                  .make = lock_workload},
    WorkloadEntry{.name = "register",
                  .summary = "read and write plain keys as fast as the clients answer",
                  .model = "register",
                  .make = register_workload},
    WorkloadEntry{.name = "noop",
                  .summary = "operations that do nothing: what the harness itself costs (for benchmarks)",
                  .make = noop_workload},
};

}  // namespace

std::span<const WorkloadEntry> workloads() {
  return kTable;
}

const WorkloadEntry& find_workload(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &WorkloadEntry::name);
  if (found != kTable.end()) return *found;
  std::array<std::string_view, kTable.size()> names;
  std::ranges::transform(kTable, names.begin(), &WorkloadEntry::name);
  throw UsageError(
      fmt::format("unknown workload \"{}\"; {} (holdfast list shows all)", name, did_you_mean(name, names)));
}

}  // namespace holdfast
