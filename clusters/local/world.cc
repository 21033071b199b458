#include "clusters/local/world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "clusters/local/interface.h"
#include "clusters/local/switch/tap.h"
#include "harness/error.h"

namespace holdfast {

namespace {

bool entered = false;
bool user_namespace = false;

void write_file(const char* path, const std::string& text) {
  const int descriptor = ::open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw system_error(fmt::format("open {}", path));
  const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  if (!written) throw system_error(fmt::format("write {}", path));
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The settings that distributions use to forbid user namespaces, each with the command that allows them.
std::string user_namespace_obstacle() {
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return "kernel.unprivileged_userns_clone is 0: as root, sysctl -w kernel.unprivileged_userns_clone=1";
  }
  if (first_line("/proc/sys/user/max_user_namespaces") == "0") {
    return "user.max_user_namespaces is 0: as root, sysctl -w user.max_user_namespaces=10000";
  }
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "kernel.apparmor_restrict_unprivileged_userns is 1: as root, sysctl -w "
           "kernel.apparmor_restrict_unprivileged_userns=0";
  }
  return "this kernel or container forbids user namespaces to unprivileged users: run as root";
}

void enter_user_namespace() {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) {
    throw Error(fmt::format("{}; {}", system_error("cannot make a user namespace").what(), user_namespace_obstacle()));
  }
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("0 {} 1", user));
  write_file("/proc/self/gid_map", fmt::format("0 {} 1", group));
  user_namespace = true;
}

}  // namespace

void enter_private_world() {
  if (entered) return;
  if (::geteuid() != 0) enter_user_namespace();
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) {
    throw Error(fmt::format("{}; local nodes need network and mount namespaces: run as root, or outside this container",
                            system_error("cannot make namespaces").what()));
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) throw system_error("make mounts private");
  bring_up("lo");
  entered = true;
}

bool in_user_namespace() {
  return user_namespace;
}

std::string private_world_obstacle() {
  if (std::string cables = tap_obstacle(); !cables.empty()) return cables;
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw system_error("pipe");
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork");
  if (child == 0) {
    std::string said;
    try {
      enter_private_world();
    } catch (const Error& error) {
      said = error.what();
    }
    const bool told = ::write(pipe[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string said(4096, '\0');
  const ssize_t count = ::read(pipe[0], said.data(), said.size());
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return "cannot find out: a child process failed";
  said.resize(static_cast<std::size_t>(count > 0 ? count : 0));
  return said;
}

}  // namespace holdfast
