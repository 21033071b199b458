// System: the software under test. A row of clusters/systems/registry.h names it, says what it claims, and how its
// servers and its clients are started.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/node.h"

namespace holdfast {

// A server program on one or more nodes. Every member may throw Error; the message names node and action.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  virtual void install(Node& node) = 0;                        // checked, quick when nothing is missing
  virtual void start(Node& node) = 0;                          // returns when it answers
  virtual void stop(Node& node) = 0;                           // politely
  virtual void kill(Node& node) = 0;                           // SIGKILL; returns when it is gone
  virtual void wipe(Node& node) = 0;                           // forgets all data; only while stopped
  [[nodiscard]] virtual NodeProcess& process(Node& node) = 0;  // to pause it; throws when not running
  [[nodiscard]] virtual bool ready(Node& node) = 0;            // answers now
  [[nodiscard]] virtual std::string version(Node& node) = 0;
  [[nodiscard]] virtual std::string endpoint(const Node& node) const = 0;  // "10.99.0.1:6379"
  [[nodiscard]] virtual std::vector<std::string> logs(const Node& node) const = 0;
  // Nodes that take writes right now.
  [[nodiscard]] virtual std::vector<Node*> primaries(std::span<Node* const> nodes) = 0;
};

struct SystemEntry {
  std::string_view name;     // what the user types; stable
  std::string_view summary;  // one line for `holdfast list`
  std::size_t server_nodes = 1;
  bool leases = true;                       // acquire takes lease_ms; without, a lock is held until it is released
  bool tokens = false;                      // acquire answers with a fencing token
  std::vector<std::string_view> workloads;  // vocabularies its client speaks
  std::vector<std::string_view> steps;      // named steps that its client announces
  std::unique_ptr<Server> (*make_server)() = nullptr;
  // argv of its client program; "{programs}" stands for Node::program_folder().
  std::vector<std::string> client;
};

}  // namespace holdfast
