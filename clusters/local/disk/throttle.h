// Limits how many writes per second the processes of a node may do on one device, by a control group of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast {

class Throttle {
 public:
  // `init` is PID 1 of the node as this process sees it. Error when the machine has no control group for that.
  Throttle(const std::string& node, pid_t init, int loop_number, unsigned writes_per_second);
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;
  ~Throttle();  // all as before

 private:
  void start_guard();

  std::string group_;   // a folder
  std::string parent_;  // the folder of the group where the processes were
  pid_t guard_ = -1;    // the process that takes the group away
  int alive_ = -1;      // while this is open
};

}  // namespace holdfast
