#include "clusters/local/init.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "clusters/local/packet.h"

namespace holdfast {

namespace {

using Json = nlohmann::json;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct Streams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// In the new process, between fork and exec.
[[noreturn]] void become(std::vector<std::string>& argv, std::vector<std::string>& environment, const Streams& streams,
                         bool client, int report) {
  ::setsid();
  const sched_param usual{};
  ::sched_setscheduler(0, client ? SCHED_BATCH : SCHED_OTHER, &usual);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(streams.in, 0);
  ::dup2(streams.out, 1);
  ::dup2(streams.err, 2);
  if (::chdir("/data") == 0) {
    ::execvpe(argv.front().c_str(), pointers(argv).data(), pointers(environment).data());
  }
  const int error = errno;
  const ssize_t told = ::write(report, &error, sizeof error);
  ::_exit(told == sizeof error ? 127 : 126);
}

void spawn(int control, const Packet& packet) {
  auto argv = packet.message.at("argv").get<std::vector<std::string>>();
  auto environment = packet.message.at("env").get<std::vector<std::string>>();
  const std::string log = packet.message.at("log");
  const int log_file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::array<int, 2> report{};
  if (log_file < 0 || nothing < 0 || ::pipe2(report.data(), O_CLOEXEC) != 0) {
    send_packet(control, {{"errno", errno}, {"what", "open " + log}});
    return;
  }
  Streams streams{nothing, log_file, log_file};
  if (packet.descriptors.size() >= 2) {
    streams.in = packet.descriptors[0];
    streams.out = packet.descriptors[1];
  }
  if (packet.descriptors.size() == 3) streams.err = packet.descriptors[2];
  const pid_t child = ::fork();
  if (child == 0) become(argv, environment, streams, packet.message.value("client", false), report[1]);
  ::close(report[1]);
  ::close(log_file);
  ::close(nothing);
  int error = child < 0 ? errno : 0;
  const ssize_t told = ::read(report[0], &error, sizeof error);  // ends without data when exec worked
  ::close(report[0]);
  if (child < 0 || told == sizeof error) {
    send_packet(control, {{"errno", error}, {"what", argv.front()}});
    return;
  }
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  send_packet(control, {{"pid", child}}, std::array{pidfd});
  ::close(pidfd);
}

// The state letter of one thread: the field after the command's closing parenthesis, which may itself contain any.
char thread_state(const std::filesystem::path& stat, pid_t group) {
  std::ifstream in(stat);
  std::string line;
  std::getline(in, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return 'X';
  const char state = line[name_end + 2];
  const std::size_t parent = name_end + 4;
  const std::size_t group_start = line.find(' ', parent) + 1;
  return std::stol(line.substr(group_start)) == group ? state : '\0';
}

std::string group_state(pid_t group) {
  bool stopped = false;
  bool running = false;
  bool waiting = false;
  std::error_code gone;  // processes end while we look
  for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = process.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const auto& thread : std::filesystem::directory_iterator(process.path() / "task", gone)) {
      const char state = thread_state(thread.path() / "stat", group);
      if (state == '\0') break;
      if (state == 'X' || state == 'Z') continue;
      // D waits in the kernel, as a parent does for its vforked child; once the signal is sent it cannot come back from
      // there to run a single instruction, so it neither shows that the group runs nor that it is stopped.
      stopped = stopped || state == 'T' || state == 't';
      running = running || (state != 'T' && state != 't' && state != 'D');
      waiting = waiting || state == 'D';
    }
  }
  if (running || (waiting && !stopped)) return "running";
  return stopped ? "stopped" : "gone";
}

void serve(int control, const Packet& packet) {
  const Json& message = packet.message;
  if (message.contains("argv")) {
    spawn(control, packet);
  } else if (message.contains("signal")) {
    ::kill(-message.at("group").get<pid_t>(), message.at("signal").get<int>());
    send_packet(control, Json::object());
  } else {
    send_packet(control, {{"state", group_state(message.at("state").get<pid_t>())}});
  }
  for (const int descriptor : packet.descriptors) ::close(descriptor);
}

void reap(int control) {
  int status = 0;
  for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
    send_packet(control, {{"exited", pid}, {"status", status}});
  }
}

}  // namespace

void serve_as_init(int control) {
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  const int signals = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  std::array<pollfd, 2> watched = {pollfd{control, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) {
      signalfd_siginfo information{};
      while (::read(signals, &information, sizeof information) > 0) {
      }
      reap(control);
    }
    if (watched[0].revents == 0) continue;
    const std::optional<Packet> packet = receive_packet(control, true);
    if (!packet) ::_exit(0);
    serve(control, *packet);
  }
}

}  // namespace holdfast
