// Pump: carries bytes between a command on a host and two pipes of ours, in a thread with a session of its own.
//
// So a client process over SSH looks to the runner as a local one does: two non-blocking descriptors. It buffers a
// little and no more: a client that floods is held back by SSH's own window, a runner that floods by the pipe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "clusters/ssh/session.h"

namespace holdfast {

class Pump {
 public:
  Pump(const SessionOptions& options, const std::string& script);  // returns when the script runs
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;
  ~Pump();

  [[nodiscard]] std::int64_t group() const { return group_; }
  [[nodiscard]] int input() const { return input_; }
  [[nodiscard]] int output() const { return output_; }
  void close_input();
  // How the command ended; exit 255 when the connection broke and nobody knows.
  [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds limit);

 private:
  void carry(const std::stop_token& stop);
  bool take_from_host();  // these two return whether anything moved
  bool give_to_host();
  void sleep_until_something_moves();
  void finish(ExitStatus status);

  Session session_;
  std::unique_ptr<Channel> channel_;
  std::int64_t group_ = 0;
  int input_ = -1;   // our end, written by the runner
  int output_ = -1;  // our end, read by the runner
  int from_runner_ = -1;
  int to_runner_ = -1;
  int wake_ = -1;
  std::string to_host_;
  std::string from_host_;
  bool runner_is_done_ = false;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<ExitStatus> status_;
  std::jthread thread_;
};

}  // namespace holdfast
