#include "clusters/ssh/pump.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <tuple>
#include <utility>

namespace holdfast {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16U;

std::pair<int, int> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw system_error("pipe");
  return {ends[0], ends[1]};
}

void close_once(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

}  // namespace

Pump::Pump(const SessionOptions& options, const std::string& script) : session_(options) {
  const Deadline deadline = std::chrono::steady_clock::now() + 2 * options.connect_limit;
  channel_ = std::make_unique<Channel>(session_, script, deadline);
  group_ = channel_->group();
  std::tie(from_runner_, input_) = make_pipe();
  std::tie(output_, to_runner_) = make_pipe();
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) throw system_error("eventfd");
  thread_ = std::jthread([this](const std::stop_token& stop) { carry(stop); });
}

Pump::~Pump() {
  thread_.request_stop();
  (void)eventfd_write(wake_, 1);
  if (thread_.joinable()) thread_.join();
  close_once(wake_);
  close_once(input_);
  close_once(output_);
}

void Pump::close_input() {
  close_once(input_);
}

std::optional<ExitStatus> Pump::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, limit, [this] { return status_.has_value(); });
  return status_;
}

void Pump::finish(ExitStatus status) {
  close_once(from_runner_);
  close_once(to_runner_);
  const std::lock_guard lock(mutex_);
  status_ = status;
  ended_.notify_all();
}

bool Pump::take_from_host() {
  bool moved = false;
  if (from_host_.size() < kBuffer) moved = channel_->read(from_host_, kBuffer - from_host_.size()) > 0;
  std::string noise;  // of the login shell's start-up files; the command's own errors are in its log
  moved = channel_->read_errors(noise, kBuffer) > 0 || moved;
  if (from_host_.empty()) return moved;
  const ssize_t written = write(to_runner_, from_host_.data(), from_host_.size());
  if (written <= 0) return moved;
  from_host_.erase(0, static_cast<std::size_t>(written));
  return true;
}

bool Pump::give_to_host() {
  bool moved = false;
  if (to_host_.empty() && !runner_is_done_) {
    std::array<char, kBuffer> buffer{};
    const ssize_t got = read(from_runner_, buffer.data(), buffer.size());
    if (got > 0) to_host_.assign(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) {
      runner_is_done_ = true;
      channel_->send_eof();
    }
    moved = got >= 0;
  }
  if (to_host_.empty()) return moved;
  try {
    const std::size_t taken = channel_->write(to_host_);
    to_host_.erase(0, taken);
    return moved || taken > 0;
  } catch (const Error&) {
    // The command has closed its input. It may still have something to say, so reading goes on.
    runner_is_done_ = true;
    to_host_.clear();
    return true;
  }
}

void Pump::sleep_until_something_moves() {
  // A descriptor of -1 is passed over by poll. With a full buffer the host must wait, so its socket is not listened to.
  const bool full = from_host_.size() >= kBuffer;
  const bool sending = (ssh_get_poll_flags(session_.native()) & SSH_WRITE_PENDING) != 0;
  const auto socket_events = static_cast<short>((full ? 0 : POLLIN) | (sending ? POLLOUT : 0));
  std::array<pollfd, 4> waiting{{
      {.fd = ssh_get_fd(session_.native()), .events = socket_events, .revents = 0},
      {.fd = to_host_.empty() && !runner_is_done_ ? from_runner_ : -1, .events = POLLIN, .revents = 0},
      {.fd = from_host_.empty() ? -1 : to_runner_, .events = POLLOUT, .revents = 0},
      {.fd = wake_, .events = POLLIN, .revents = 0},
  }};
  (void)poll(waiting.data(), waiting.size(), 200);
}

void Pump::carry(const std::stop_token& stop) {
  ExitStatus status{.code = 255, .signal = 0};
  while (!stop.stop_requested()) {
    const bool taken = take_from_host();
    const bool closed = channel_->ended();  // also when the connection broke: to the runner the process has ended
    if (closed && from_host_.empty()) break;
    const bool given = !closed && give_to_host();
    if (!taken && !given) sleep_until_something_moves();
  }
  if (const auto known = channel_->exit_status()) status = *known;
  channel_.reset();
  session_.disconnect();
  finish(status);
}

}  // namespace holdfast
