// Session: one SSH connection, and Channel: one command on it.
//
// A session and its channels belong to one thread at a time (libssh's rule); whoever shares one has the mutex. Nothing
// here waits longer than it was told: the session is always non-blocking and waiting is done with a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/error.h"
#include "harness/node.h"

struct ssh_session_struct;  // libssh's own header stays in the .cc files

namespace holdfast {

using Deadline = std::chrono::steady_clock::time_point;

// Host key or login: trying again changes nothing.
class RefusedError : public Error {
 public:
  using Error::Error;
};

struct SessionOptions {
  std::string host;                                // a name or an alias of the ssh config
  std::filesystem::path ssh_config;                // empty: ~/.ssh/config and the system's
  std::chrono::milliseconds connect_limit{10000};  // all of connect()
  std::string password;                            // empty: $HOLDFAST_SSH_PASSWORD, and none without that
};

class Session {
 public:
  explicit Session(SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void connect();  // one attempt
  // Again and again with growing pauses (50 ms … 2 s) until the deadline; a RefusedError ends it at once.
  void connect_patiently(Deadline deadline);
  void disconnect();
  [[nodiscard]] bool connected() const;

  [[nodiscard]] const std::string& host() const { return options_.host; }
  [[nodiscard]] const std::string& address() const { return address_; }  // IP; empty through a ProxyCommand
  [[nodiscard]] std::chrono::milliseconds connect_limit() const { return options_.connect_limit; }

  // Runs a script in a POSIX shell of its own process group, standard input empty. When the limit is over the group
  // is killed. Reconnects when the session turns out to be broken before the script was sent, never after.
  CommandResult run(const std::string& script, std::chrono::milliseconds limit);

  [[nodiscard]] ssh_session_struct* native() const { return session_; }
  [[nodiscard]] unsigned generation() const { return generation_; }  // changes when native() is freed
  [[nodiscard]] std::string last_error() const;                      // libssh's, on one line
  void wait_readable(Deadline deadline) const;                       // or writable, when something is still to be sent
  [[nodiscard]] Error failure(std::string_view what) const;          // "n1: what: libssh's reason"

 private:
  void configure();
  void exchange_keys(Deadline deadline);
  void check_host_key();
  void log_in(Deadline deadline);
  void kill_group(std::int64_t group);
  [[nodiscard]] std::string option(int which) const;

  SessionOptions options_;
  std::string address_;
  ssh_session_struct* session_ = nullptr;
  unsigned generation_ = 0;
  bool connected_ = false;
  bool key_is_doubtful_ = false;  // accepted only because the user switched the check off
};

class Channel {
 public:
  // Starts the script; it has announced its process group when the constructor returns. Reconnects at most once.
  Channel(Session& session, const std::string& script, Deadline deadline);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  [[nodiscard]] std::int64_t group() const { return group_; }

  // None of these blocks. They throw Error when the connection is broken.
  std::size_t write(std::string_view bytes);  // how much was taken
  void send_eof();
  std::size_t read(std::string& into, std::size_t limit);  // standard output, appended
  std::size_t read_errors(std::string& into, std::size_t limit);
  [[nodiscard]] bool ended();  // closed by the host, and all was read
  [[nodiscard]] std::optional<ExitStatus> exit_status() const;

 private:
  struct State;  // libssh calls back into it, so it does not move
  void start(const std::string& command, Deadline deadline);
  void await_announcement(const std::string& mark, Deadline deadline);

  Session& session_;
  std::unique_ptr<State> state_;
  std::int64_t group_ = 0;
  std::string early_;  // what was read together with the announcement
};

}  // namespace holdfast
