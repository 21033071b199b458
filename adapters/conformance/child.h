// Child: a program under examination, with a pipe to its standard input and one from its standard output. Destruction
// ends its whole process group; it also ends when we do.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/cpp/lines.h"

namespace holdfast {

class Child {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  explicit Child(const std::vector<std::string>& argv);  // throws std::system_error when it cannot be started
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  void send(std::string_view line);  // adds the newline; quiet when nobody reads
  void close_input();
  [[nodiscard]] pid_t pid() const { return pid_; }

  enum class Status { line, timeout, ended, too_long };
  struct Line {
    Status status = Status::timeout;
    std::string text;  // for `ended`: what came after the last newline
  };
  Line receive(Deadline deadline);

  // As waitpid(2) tells it; nothing: still running at the deadline.
  std::optional<int> wait(Deadline deadline);

 private:
  pid_t pid_ = -1;
  int process_ = -1;  // pidfd
  int input_ = -1;
  int output_ = -1;
  std::optional<int> status_;
  LineBuffer lines_;
};

std::string describe_exit(int status);  // "exit 3", "signal 9"

}  // namespace holdfast
