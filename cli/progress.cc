#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/duration.h"

namespace holdfast {

namespace {

constexpr Time kLineEvery = std::chrono::seconds(5);  // where there is no terminal

double in_seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Progress::Progress(Time time_limit)
    : time_limit_(time_limit), terminal_(::isatty(STDERR_FILENO) == 1), next_line_(kLineEvery) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::say(std::string_view what) {
  if (terminal_) fmt::print(stderr, "\r\033[K{} …", what);
}

void Progress::show(const RunStatus& status) {
  const std::uint64_t operations = status.ok + status.fail + status.info;
  const double passed = in_seconds(status.now - last_time_);
  const double rate = passed > 0 ? static_cast<double>(operations - last_operations_) / passed : 0;
  if (!terminal_ && status.now < next_line_) return;
  const std::string line =
      fmt::format("{:5.1f} s of {}  {}  {} ok  {} fail  {} unknown  {:.0f} operations/s", in_seconds(status.now),
                  to_text(time_limit_), status.phase, status.ok, status.fail, status.info, rate);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
    next_line_ = status.now + kLineEvery;
  }
  last_operations_ = operations;
  last_time_ = status.now;
}

}  // namespace holdfast
