#include "clusters/local/disk/throttle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "harness/error.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

constexpr const char* kGroups = "/sys/fs/cgroup/blkio";
constexpr const char* kRule = "blkio.throttle.write_iops_device";
constexpr const char* kPrefix = "holdfast-disk-";
constexpr int kLoopMajor = 7;

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  return static_cast<bool>(out.flush());
}

// "6:blkio:/some/group"
std::string group_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/cgroup", process));
  for (std::string line; std::getline(in, line);) {
    const std::size_t found = line.find(":blkio:");
    if (found != std::string::npos) return kGroups + line.substr(found + 7);
  }
  return kGroups;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// All processes of the node: those that see the same processes as its init.
void move_all(pid_t init, const std::string& group) {
  std::error_code gone;
  const auto same = fs::read_symlink(fmt::format("/proc/{}/ns/pid", init), gone);
  if (same.empty()) return;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (is_number(name) && fs::read_symlink(entry.path() / "ns/pid", gone) == same) {
      write_text(group + "/cgroup.procs", name);  // fails for one that has ended just now, which is fine
    }
  }
}

// Takes the group away when the other end of the pipe is closed: by us, or by the kernel when we are killed. A process
// of its own, because a killed one can clean up nothing. After fork(2) in a process with threads: system calls only.
[[noreturn]] void guard(const char* group, int closed) {
  ::setsid();  // Ctrl-C is for the controller
  if (closed > 0) ::close_range(0, static_cast<unsigned>(closed) - 1, 0);
  ::close_range(static_cast<unsigned>(closed) + 1, ~0U, 0);
  char nothing = 0;
  while (::read(closed, &nothing, 1) < 0 && errno == EINTR) {
  }
  constexpr timespec kPause{0, 2'000'000};
  for (int tries = 0; tries < 5000 && ::rmdir(group) != 0 && errno == EBUSY; ++tries) ::nanosleep(&kPause, nullptr);
  ::_exit(0);
}

}  // namespace

Throttle::Throttle(const std::string& node, pid_t init, int loop_number, unsigned writes_per_second)
    : group_(fmt::format("{}/{}{}.{}", kGroups, kPrefix, ::getpid(), node)), parent_(group_of(init)) {
  if (::access(fmt::format("{}/{}", kGroups, kRule).c_str(), W_OK) != 0) {
    throw Error(
        fmt::format("{}: a slow disk needs the control group {} (version 1) and root; it is not here", node, kGroups));
  }
  if (::mkdir(group_.c_str(), 0755) != 0) throw system_error(fmt::format("make {}", group_));
  if (!write_text(fs::path(group_) / kRule, fmt::format("{}:{} {}", kLoopMajor, loop_number, writes_per_second))) {
    ::rmdir(group_.c_str());
    throw Error(fmt::format("{}: {} does not take a limit for its disk", node, group_));
  }
  start_guard();
  // Twice: what was started while the first round looked is in the group of its parent, the old or the new one.
  move_all(init, group_);
  move_all(init, group_);
}

Throttle::~Throttle() {
  std::ifstream members(group_ + "/cgroup.procs");
  std::vector<std::string> left;
  for (std::string line; std::getline(members, line);) left.push_back(line);
  for (const std::string& process : left) write_text(parent_ + "/cgroup.procs", process);
  ::close(alive_);
  int status = 0;
  while (::waitpid(guard_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Throttle::start_guard() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    guard_ = ::fork();
    if (guard_ == 0) guard(group_.c_str(), ends[0]);
    ::close(ends[0]);
    alive_ = ends[1];
  }
  if (guard_ > 0) return;
  const Error error = system_error("make a process");
  ::rmdir(group_.c_str());
  throw Error(error);
}

}  // namespace holdfast
