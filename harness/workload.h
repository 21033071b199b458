// Workload: what clients do and which promises are checked. A plain aggregate; workloads/registry.h has the table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/checker.h"
#include "harness/generator.h"
#include "harness/system.h"

namespace holdfast {

struct WorkloadOptions {
  const SystemEntry* system = nullptr;
  std::uint64_t seed = 0;
  Time time_limit = std::chrono::seconds(10);
  Time lease = std::chrono::milliseconds(600);  // of a lock
  Time hold = std::chrono::milliseconds(60);    // how long the critical section takes
  Time wait = std::chrono::milliseconds(1500);  // how long a client keeps trying before it rests
  Time poll = std::chrono::milliseconds(15);    // between two attempts
  std::size_t locks = 1;
  bool faults = false;  // a nemesis is at work: a promise that no fault put to the test is unknown
};

struct Workload {
  GeneratorPtr generator;
  GeneratorPtr final_generator;  // after healing; may be null
  Time final_limit{};            // the final phase is cut off after this
  bool needs_resource = false;   // start the guarded resource
  std::vector<std::unique_ptr<Checker>> checkers;
};

struct WorkloadEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view model;  // what the clients work on, as `holdfast check --model` names it; empty: nothing to decide
  Workload (*make)(const WorkloadOptions& options) = nullptr;
};

}  // namespace holdfast
