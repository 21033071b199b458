// The one loop: clients work while the nemesis breaks things, and everything is recorded.
//
// One thread serves all clients with epoll; the nemesis has a thread of its own. A client that dies, hangs, floods or
// prints garbage costs its open operation (recorded as info) and its process number, never the run.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "harness/nemesis.h"
#include "harness/workload.h"

namespace holdfast {

struct RunStatus {  // for the status line
  Time now{};
  std::uint64_t ok = 0;
  std::uint64_t fail = 0;
  std::uint64_t info = 0;
  std::string_view phase;
};

struct RunPlan {
  const SystemEntry& system;
  Cluster& cluster;
  Server& server;
  Workload& workload;
  Nemesis* nemesis = nullptr;  // null: no faults
  Recorder& recorder;
  std::size_t concurrency = 5;
  Time operation_limit = std::chrono::seconds(5);
  Value client_options;                             // goes to every client with `open`
  std::vector<std::string> client_command;          // argv; empty: the system's own
  const std::atomic<bool>* interrupted = nullptr;   // set by Ctrl-C
  std::function<bool(const Event&)> on_event;       // each event of a client, as it is recorded; true: end the run
  std::function<void(const RunStatus&)> on_status;  // about ten times a second; may be empty
};

// Returns when the generators are done and everything is healed. Throws Error when the run cannot go on (no client
// ever opens, the disk is full, a fault does not heal); the history up to then is on disk.
void run(const RunPlan& plan);

}  // namespace holdfast
