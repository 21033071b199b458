// Node: a machine that Holdfast may use, wherever it comes from (a namespace here, a host over SSH).
//
// Thread-safe: the runner and the nemesis use a node at the same time. Paths are paths on the node.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/network.h"

namespace holdfast {

class NodeClock;
class NodeDisk;

struct CommandResult {
  int exit_status = 0;  // 128 + signal when a signal ended it
  bool timed_out = false;
  std::string output;
  std::string errors;
  [[nodiscard]] bool ok() const { return !timed_out && exit_status == 0; }
};

enum class ProcessState { running, stopped, gone };

struct ExitStatus {
  int code = 0;
  int signal = 0;  // 0: it exited by itself
};
std::string to_string(const ExitStatus& status);  // "exit 3", "signal 9 (Killed)"

// A process on a node, leader of its own process group. Destruction ends the group with SIGKILL.
class NodeProcess {
 public:
  virtual ~NodeProcess() = default;
  virtual void signal(int signal_number) = 0;      // to the whole group; quiet when it is gone
  [[nodiscard]] virtual ProcessState state() = 0;  // stopped only when every process of the group is
  [[nodiscard]] virtual std::optional<ExitStatus> wait(std::chrono::milliseconds limit) = 0;
  // Non-blocking descriptors of ours to its standard input and output; -1 for a daemon. Owned by this object.
  [[nodiscard]] virtual int input() const = 0;
  [[nodiscard]] virtual int output() const = 0;
  virtual void close_input() = 0;
  [[nodiscard]] virtual std::string describe() const = 0;  // "redis-server (pid 4711 on n1)"
};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value", beside PATH, HOME and LANG
};

class Node {
 public:
  virtual ~Node() = default;
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const std::string& address() const = 0;
  [[nodiscard]] virtual std::string data_folder() const = 0;     // a folder of the node's own, empty at first
  [[nodiscard]] virtual std::string program_folder() const = 0;  // where Holdfast's own client programs are

  virtual CommandResult run(const Command& command, std::chrono::milliseconds limit) = 0;
  // Standard input and output are pipes to us; standard error is appended to `error_log` (a path on the node).
  virtual std::unique_ptr<NodeProcess> spawn(const Command& command, const std::string& error_log) = 0;
  // Standard input is empty; standard output and error are appended to `log`.
  virtual std::unique_ptr<NodeProcess> start_daemon(const Command& command, const std::string& log) = 0;
  virtual void upload(const std::filesystem::path& ours, const std::string& theirs) = 0;
  virtual void download(const std::string& theirs, const std::filesystem::path& ours) = 0;
  // Clocks of its own that a fault may set; null: it has the clocks of the machine it runs on.
  [[nodiscard]] virtual NodeClock* clock() { return nullptr; }
  // A disk of its own under the data folder, put in when first asked for, which must be before anything runs there.
  [[nodiscard]] virtual NodeDisk& disk();

  // Like run(), but a non-zero status is an Error that names node, command and what it printed.
  CommandResult must_run(const Command& command, std::chrono::milliseconds limit);
};

// Roles are fixed at creation. The order of `servers` is the order of their numbers (n1, n2, …).
class Cluster {
 public:
  virtual ~Cluster() = default;
  [[nodiscard]] virtual std::span<Node* const> servers() const = 0;
  [[nodiscard]] virtual std::span<Node* const> clients() const = 0;
  [[nodiscard]] virtual Node& resource() const = 0;  // carries the guarded resource
  [[nodiscard]] virtual Network& network() = 0;
  [[nodiscard]] virtual std::string describe() const = 0;  // "local: 1 server, 1 resource, 5 client nodes"
  [[nodiscard]] std::vector<Node*> all() const;            // servers, resource, clients; each once
};

}  // namespace holdfast
