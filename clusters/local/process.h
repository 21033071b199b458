// A process inside a local node.
#pragma once

#include <sys/types.h>

#include <string>

#include "harness/node.h"

namespace holdfast {

class LocalNode;

class LocalProcess final : public NodeProcess {
 public:
  // Takes the descriptors over. `pid` is the number inside the node.
  LocalProcess(LocalNode& node, std::string program, pid_t pid, int pidfd, int input, int output);
  LocalProcess(const LocalProcess&) = delete;
  LocalProcess& operator=(const LocalProcess&) = delete;
  ~LocalProcess() override;

  void signal(int signal_number) override;
  [[nodiscard]] ProcessState state() override;
  [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds limit) override;
  [[nodiscard]] int input() const override { return input_; }
  [[nodiscard]] int output() const override { return output_; }
  void close_input() override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] pid_t pid() const { return pid_; }  // inside the node

 private:
  LocalNode& node_;
  std::string program_;
  pid_t pid_;
  int pidfd_;
  int input_;
  int output_;
};

}  // namespace holdfast
