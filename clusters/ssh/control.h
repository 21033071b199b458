// Control: the node's own line to a host, for short commands that must be quick: signals, states, rules.
//
// One shell stays open at the far end, so a command costs a round trip and no login shell with its start-up files. The
// same place keeps the heartbeat by which a host knows that the controller lives. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "clusters/ssh/session.h"

namespace holdfast {

class Control {
 public:
  explicit Control(const SessionOptions& options);  // connects; one attempt
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control();

  enum class Again : std::uint8_t { yes, no };
  // Runs a script in a subshell; its errors are part of the output. When the connection breaks, `yes` runs it once more
  // (it must be harmless to do twice), `no` throws. The limit covers reconnecting too.
  CommandResult run(const std::string& script, std::chrono::milliseconds limit = std::chrono::seconds(20),
                    Again again = Again::yes);
  std::string must_run(const std::string& script, const std::string& what, Again again = Again::yes);  // its output

  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::string address();

  // From now on `file` on the host changes every quarter of `dead_man`.
  void beat(const std::string& file, std::chrono::milliseconds dead_man);
  void stop_beating();

  // A shell command that starts a dead-man on the host and prints its number: it runs `action` when the heartbeat has
  // stood still for the time given to beat(), or when the heartbeat's file is gone. disarm() is its end.
  [[nodiscard]] std::string arm(const std::string& action) const;
  [[nodiscard]] static std::string disarm(std::int64_t dead_man);

 private:
  CommandResult ask(const std::string& script, Deadline deadline);

  const std::string host_;
  std::mutex mutex_;
  Session session_;
  std::unique_ptr<Channel> shell_;
  std::uint64_t asked_ = 0;
  std::string beat_file_;
  std::chrono::milliseconds dead_man_{};
  std::jthread beater_;
};

}  // namespace holdfast
