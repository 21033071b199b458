#include "clusters/local/disk/throttle.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
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

// A controller that was killed could not take its group away; it is empty and harms nobody.
void remove_groups_of_the_dead() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kGroups, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const std::string owner = name.substr(std::string(kPrefix).size(), name.find('.') - std::string(kPrefix).size());
    if (is_number(owner) && ::kill(std::stoi(owner), 0) != 0) ::rmdir(entry.path().c_str());
  }
}

}  // namespace

Throttle::Throttle(const std::string& node, pid_t init, int loop_number, unsigned writes_per_second)
    : group_(fmt::format("{}/{}{}.{}", kGroups, kPrefix, ::getpid(), node)), parent_(group_of(init)) {
  if (::access(fmt::format("{}/{}", kGroups, kRule).c_str(), W_OK) != 0) {
    throw Error(
        fmt::format("{}: a slow disk needs the control group {} (version 1) and root; it is not here", node, kGroups));
  }
  remove_groups_of_the_dead();
  if (::mkdir(group_.c_str(), 0755) != 0) throw system_error(fmt::format("make {}", group_));
  if (!write_text(fs::path(group_) / kRule, fmt::format("{}:{} {}", kLoopMajor, loop_number, writes_per_second))) {
    ::rmdir(group_.c_str());
    throw Error(fmt::format("{}: {} does not take a limit for its disk", node, group_));
  }
  // Twice: what was started while the first round looked is in the group of its parent, the old or the new one.
  move_all(init, group_);
  move_all(init, group_);
}

Throttle::~Throttle() {
  std::ifstream members(group_ + "/cgroup.procs");
  std::vector<std::string> left;
  for (std::string line; std::getline(members, line);) left.push_back(line);
  for (const std::string& process : left) write_text(parent_ + "/cgroup.procs", process);
  ::rmdir(group_.c_str());
}

}  // namespace holdfast
