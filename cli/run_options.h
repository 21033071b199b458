// The flags that `run` and `audit` share, and how they become a request.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace holdfast {

struct RunOptions {
  std::string subject;  // system or scenario
  std::string workload = "lock";
  std::vector<std::string> faults;
  std::string time_limit;
  std::string lease;
  std::string hold;
  std::string wait;
  std::string operation_limit = "5s";
  std::string connect_limit = "10s";
  std::string concurrency;
  std::size_t locks = 1;
  std::string seed;
  std::string store = "store";
  std::vector<std::string> nodes;
  std::string nodes_file;
  std::string ssh_config;
  std::string client;
  bool stop_on_violation = false;
  bool verbose = false;

  void add_to(CLI::App& command);
  // The system's or scenario's request with everything that was said on the command line put in.
  [[nodiscard]] RunRequest request() const;
  // Arguments for `run` that make the same run again; the seed is added by whoever prints them.
  [[nodiscard]] std::vector<std::string> repeating_arguments() const;
};

}  // namespace holdfast
