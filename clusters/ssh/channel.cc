#include <fmt/format.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstring>
#include <random>

#include "clusters/ssh/quote.h"
#include "clusters/ssh/session.h"

namespace holdfast {
namespace {

using std::chrono::steady_clock;

int signal_number(std::string_view name) {
  for (int number = 1; number < NSIG; ++number)
    if (const char* known = sigabbrev_np(number); known != nullptr && name == known) return number;
  return SIGKILL;  // a signal that we have no name for ended it all the same
}

std::string fresh_mark() {
  static std::atomic<std::uint64_t> counter{std::random_device{}()};
  return fmt::format("holdfast-{:x}-{:x}", std::random_device{}(), counter.fetch_add(1));
}

}  // namespace

struct Channel::State {
  ssh_channel channel = nullptr;
  unsigned generation = 0;
  ssh_channel_callbacks_struct callbacks{};
  std::optional<ExitStatus> status;
  bool closed = false;

  static void on_status(ssh_session, ssh_channel, int code, void* self) {
    static_cast<State*>(self)->status = ExitStatus{.code = code, .signal = 0};
  }
  static void on_signal(ssh_session, ssh_channel, const char* name, int, const char*, const char*, void* self) {
    static_cast<State*>(self)->status = ExitStatus{.code = 0, .signal = signal_number(name)};
  }
  static void on_close(ssh_session, ssh_channel, void* self) { static_cast<State*>(self)->closed = true; }
};

Channel::Channel(Session& session, const std::string& script, Deadline deadline)
    : session_(session), state_(std::make_unique<State>()) {
  state_->callbacks.userdata = state_.get();
  state_->callbacks.channel_exit_status_function = &State::on_status;
  state_->callbacks.channel_exit_signal_function = &State::on_signal;
  state_->callbacks.channel_close_function = &State::on_close;
  ssh_callbacks_init(&state_->callbacks);

  // A start-up file of the user's shell may print something first, so the announcement has a mark of its own. $5 of
  // the status is the process group, which sshd gives to each command.
  const std::string mark = fresh_mark();
  const std::string announced =
      fmt::format("read -r a b c d group e </proc/$$/stat; echo {} $group; unset a b c d group e; {}", mark, script);
  const std::string command = "exec /bin/sh -c " + quote(announced);
  if (!session_.connected()) session_.connect_patiently(deadline);
  try {
    start(command, deadline);
  } catch (const Error&) {
    // The session had died unnoticed. Nothing was run yet, so a second attempt cannot run anything twice.
    if (steady_clock::now() >= deadline) throw;
    session_.connect_patiently(deadline);
    start(command, deadline);
  }
  await_announcement(mark, deadline);
}

Channel::~Channel() {
  if (state_->channel == nullptr || state_->generation != session_.generation()) return;
  ssh_remove_channel_callbacks(state_->channel, &state_->callbacks);
  ssh_channel_free(state_->channel);  // closes it too
}

void Channel::start(const std::string& command, Deadline deadline) {
  const auto finish = [&](std::string_view what, auto&& call) {
    int result = SSH_AGAIN;
    while ((result = call()) == SSH_AGAIN) {
      if (steady_clock::now() >= deadline) {
        session_.disconnect();
        throw Error(fmt::format("{}: {}: no answer in time; the host is overloaded or cut off", session_.host(), what));
      }
      session_.wait_readable(deadline);
    }
    if (result != SSH_OK) throw session_.failure(what);
  };
  state_->channel = ssh_channel_new(session_.native());
  state_->generation = session_.generation();
  if (state_->channel == nullptr) throw session_.failure("open a channel");
  ssh_set_channel_callbacks(state_->channel, &state_->callbacks);
  finish("open a channel", [&] { return ssh_channel_open_session(state_->channel); });
  finish("start a command", [&] { return ssh_channel_request_exec(state_->channel, command.c_str()); });
}

void Channel::await_announcement(const std::string& mark, Deadline deadline) {
  std::string seen;
  while (true) {
    const std::size_t at = seen.find(mark);
    const std::size_t newline = at == std::string::npos ? at : seen.find('\n', at);
    if (newline != std::string::npos) {
      const char* const number = seen.data() + at + mark.size() + 1;
      std::from_chars(number, seen.data() + newline, group_);
      if (group_ <= 1)
        throw Error(fmt::format("{}: no process group announced; is /proc mounted there?", session_.host()));
      early_ = seen.substr(newline + 1);
      return;
    }
    if (read(seen, 4096) > 0) continue;
    if (ended()) {
      std::string errors;
      read_errors(errors, 4096);
      std::replace(errors.begin(), errors.end(), '\n', ' ');
      throw Error(fmt::format("{}: the shell ended before the command began: {}", session_.host(),
                              errors.empty() ? session_.last_error() : errors));
    }
    if (steady_clock::now() >= deadline) {
      session_.disconnect();
      throw Error(
          fmt::format("{}: the shell did not start in time; the host is overloaded or cut off", session_.host()));
    }
    session_.wait_readable(deadline);
  }
}

std::size_t Channel::write(std::string_view bytes) {
  const int taken = ssh_channel_write(state_->channel, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
  if (taken == SSH_AGAIN) return 0;
  if (taken < 0) throw session_.failure("write to a command");
  return static_cast<std::size_t>(taken);
}

void Channel::send_eof() {
  (void)ssh_channel_send_eof(state_->channel);
}

namespace {

std::size_t read_some(ssh_channel channel, bool errors, std::string& into, std::size_t limit) {
  const std::size_t before = into.size();
  into.resize(before + limit);
  const int got =
      ssh_channel_read_nonblocking(channel, into.data() + before, static_cast<std::uint32_t>(limit), errors ? 1 : 0);
  into.resize(before + static_cast<std::size_t>(std::max(got, 0)));
  return into.size() - before;
}

}  // namespace

std::size_t Channel::read(std::string& into, std::size_t limit) {
  if (!early_.empty()) {
    const std::size_t part = std::min(limit, early_.size());
    into.append(early_, 0, part);
    early_.erase(0, part);
    return part;
  }
  return read_some(state_->channel, false, into, limit);
}

std::size_t Channel::read_errors(std::string& into, std::size_t limit) {
  return read_some(state_->channel, true, into, limit);
}

bool Channel::ended() {
  if (!early_.empty()) return false;
  if (!session_.connected()) return true;
  // After the end of its output libssh reads on only when it is asked for the exit status.
  if (ssh_channel_is_eof(state_->channel) != 0) (void)ssh_channel_get_exit_status(state_->channel);
  if (!state_->closed && (ssh_channel_is_eof(state_->channel) == 0 || !state_->status)) return false;
  // Last, since whatever is asked before may have brought the rest of the output along with the end.
  return ssh_channel_poll(state_->channel, 0) <= 0 && ssh_channel_poll(state_->channel, 1) <= 0;
}

std::optional<ExitStatus> Channel::exit_status() const {
  return state_->status;
}

}  // namespace holdfast
