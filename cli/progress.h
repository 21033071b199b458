// What a person sees while a run goes on: one line that changes, on a terminal; otherwise a line now and then.
#pragma once

#include <string>
#include <string_view>

#include "harness/runner.h"

namespace holdfast {

class Progress {
 public:
  explicit Progress(Time time_limit);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // wipes the line

  void say(std::string_view what);
  void show(const RunStatus& status);

 private:
  Time time_limit_;
  bool terminal_;
  Time next_line_;
  std::uint64_t last_operations_ = 0;
  Time last_time_{};
};

}  // namespace holdfast
