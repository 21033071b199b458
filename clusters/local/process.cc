#include "clusters/local/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "clusters/local/node.h"
#include "harness/error.h"

namespace holdfast {

LocalProcess::LocalProcess(LocalNode& node, std::string program, pid_t pid, int pidfd, int input, int output)
    : node_(node), program_(std::move(program)), pid_(pid), pidfd_(pidfd), input_(input), output_(output) {}

LocalProcess::~LocalProcess() {
  try {
    signal(SIGKILL);
  } catch (const Error&) {
    // A dead node has ended its processes already.
  }
  for (const int descriptor : {pidfd_, input_, output_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

// Through init, not by number from here: inside the node a number that was used up and given out again can at worst
// be another process of the same node.
void LocalProcess::signal(int signal_number) {
  node_.ask({{"signal", signal_number}, {"group", pid_}});
}

ProcessState LocalProcess::state() {
  const Packet answer = node_.ask({{"state", pid_}});
  const auto& state = answer.message.at("state").get_ref<const std::string&>();
  if (state == "running") return ProcessState::running;
  return state == "stopped" ? ProcessState::stopped : ProcessState::gone;
}

std::optional<ExitStatus> LocalProcess::wait(std::chrono::milliseconds limit) {
  pollfd watched{pidfd_, POLLIN, 0};
  if (::poll(&watched, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  const std::optional<int> status = node_.exit_of(pid_, true);
  if (!status) return ExitStatus{.code = 0, .signal = SIGKILL};  // the whole node is gone
  if (WIFSIGNALED(*status)) return ExitStatus{.code = 0, .signal = WTERMSIG(*status)};
  return ExitStatus{.code = WEXITSTATUS(*status), .signal = 0};
}

void LocalProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

std::string LocalProcess::describe() const {
  return fmt::format("{} (pid {} on {})", program_, pid_, node_.name());
}

}  // namespace holdfast
