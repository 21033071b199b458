// Fault: something that the nemesis does to the cluster. A fault in place is a value; its destruction heals.
//
// Every fault is probed: what inject() returns says whether the effect was seen, and heal() says whether it is over.
// Both go into the history as events of the process "nemesis" (FaultRecord reads them back).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/history.h"
#include "harness/node.h"
#include "harness/rng.h"
#include "harness/system.h"

namespace holdfast {

struct ClientProcess {
  std::shared_ptr<NodeProcess> process;  // null: not running just now
  Process number{};
  std::size_t lane = 0;
  Node* node = nullptr;
};

// The runner's side of the bargain: who runs where, right now. Thread-safe.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual Cluster& cluster() = 0;
  virtual Server& server() = 0;
  virtual std::size_t lanes() const = 0;
  virtual ClientProcess client(std::size_t lane) = 0;
  // Time stands still for a stopped client: its operation must not be given up meanwhile.
  virtual void set_paused(std::size_t lane, bool paused) = 0;
  // Waits until the lane has a client process other than `old` that answered `open`; false: not in time.
  virtual bool wait_for_new_client(std::size_t lane, Process old, std::chrono::milliseconds limit) = 0;
};

struct Effect {
  bool seen = false;  // of inject: the fault really bit; of heal: it is really over
  Value evidence;     // {"state":"T"}, {"packets_dropped":231}, …
};

class ActiveFault {
 public:
  virtual ~ActiveFault() = default;  // heals if heal() was not called; never throws
  [[nodiscard]] virtual Value target()
      const = 0;  // {"process":7,"lane":2,"node":"c3"} | {"node":"n1"} | {"links":[["c1","n1"]]}
  [[nodiscard]] virtual Effect effect() = 0;  // asked right after inject and again right before heal
  virtual Effect heal() = 0;                  // idempotent
};

class Fault {
 public:
  virtual ~Fault() = default;
  // On the empty cluster, before the servers are started: what it will need there. Throws Error when it cannot have it.
  virtual void prepare(Cluster& cluster) { static_cast<void>(cluster); }
  // Before the run: throws Error when this can never work on this cluster.
  virtual void rehearse(Cluster& cluster) { static_cast<void>(cluster); }
  // `lane` is the client that set off the trigger; empty for a fault at a time.
  virtual std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) = 0;
};

// A fault as the history tells it.
struct FaultRecord {
  std::uint64_t id = 0;
  std::string kind;  // "pause", "kill", "partition"
  Time start{};
  Time end = Time::max();  // max: the history ends before it healed
  std::uint64_t start_event = 0;
  std::optional<std::uint64_t> end_event;
  std::optional<Process> process;  // the client it hit
  std::vector<std::string> nodes;  // the nodes it hit
  bool server = false;             // it hit a server
  bool effective = false;
  bool healed = false;
  Value target;
  Value evidence;
};
std::vector<FaultRecord> fault_records(const History& history);

}  // namespace holdfast
