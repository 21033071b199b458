#include "adapters/conformance/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "adapters/cpp/address.h"

namespace holdfast {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return ends;
}

constexpr int kNotFound = 127;  // as a shell says it

[[noreturn]] void become(const std::vector<std::string>& argv, int input, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  std::_Exit(kNotFound);
}

}  // namespace

Child::Child(const std::vector<std::string>& argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto [their_input, our_input] = make_pipe();
  const auto [our_output, their_output] = make_pipe();
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) become(argv, their_input, their_output);
  setpgid(pid_, pid_);  // here as well, so that it is done whoever comes first
  close(their_input);
  close(their_output);
  input_ = our_input;
  output_ = our_output;
  fcntl(input_, F_SETFL, O_NONBLOCK);
  fcntl(output_, F_SETFL, O_NONBLOCK);
  // glibc 2.36 declares pidfd_open() for C only.
  process_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
}

Child::~Child() {
  kill(-pid_, SIGKILL);
  if (!status_) waitpid(pid_, nullptr, 0);
  close_input();
  close(output_);
  close(process_);
}

void Child::send(std::string_view line) {
  if (input_ < 0) return;
  write_all(input_, std::string(line) + '\n', std::chrono::steady_clock::now() + std::chrono::seconds(5));
}

void Child::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

Child::Line Child::receive(Deadline deadline) {
  while (true) {
    if (const auto line = lines_.next()) return {.status = Status::line, .text = std::string(*line)};
    if (!wait_for(output_, POLLIN, deadline)) return {.status = Status::timeout, .text = {}};
    const std::ptrdiff_t count = lines_.fill(output_);
    if (count == 0) return {.status = Status::ended, .text = std::string(lines_.rest())};
    if (count < 0 && errno == EMSGSIZE) return {.status = Status::too_long, .text = {}};
  }
}

std::optional<int> Child::wait(Deadline deadline) {
  if (status_) return status_;
  if (!wait_for(process_, POLLIN, deadline)) return std::nullopt;
  int status = 0;
  waitpid(pid_, &status, 0);
  status_ = status;
  return status_;
}

std::string describe_exit(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace holdfast
