#include "clusters/ssh/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "clusters/ssh/pump.h"
#include "clusters/ssh/quote.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Adds the shell that runs it, and what that becomes by exec, to the list of groups.
std::string list_group(const std::string& folder) {
  return fmt::format(
      "read -r a b c d group f g h i j k l m n o p q r s t u start v </proc/$$/stat; "
      "[ \"$group\" = $$ ] || start=-; echo \"$group $start\" >>{}",
      quote(folder + "/groups"));
}

class GroupProcess : public NodeProcess {
 public:
  GroupProcess(SshPlace place, std::string program, std::int64_t group)
      : place_(std::move(place)), program_(std::move(program)), group_(group) {}

  void signal(int signal_number) override {
    const char* name = sigabbrev_np(signal_number);
    if (name == nullptr) throw Error(fmt::format("{} is no signal", signal_number));
    const std::lock_guard lock(mutex_);
    const std::int64_t armed = std::exchange(dead_man_, 0);
    std::string script = fmt::format("kill -s {} -- -{}", name, group_);
    const std::string resume = fmt::format("kill -s CONT -- -{}", group_);
    if (signal_number == SIGSTOP) script += " && { " + place_.control->arm(resume) + "; }";
    const bool ends_pause = signal_number == SIGSTOP || signal_number == SIGCONT || signal_number == SIGKILL;
    if (armed != 0 && ends_pause) script += "; status=$?; " + Control::disarm(armed) + "; exit $status";
    if (armed != 0 && !ends_pause) dead_man_ = armed;
    const CommandResult result = place_.control->run(script);
    if (!result.ok()) {
      if (result.output.find("No such process") != std::string::npos) return;
      throw Error(fmt::format("{}: send SIG{}: {}", describe(), name, result.output));
    }
    if (signal_number == SIGSTOP)
      std::from_chars(result.output.data(), result.output.data() + result.output.size(), dead_man_);
  }

  ProcessState state() override {
    // A name may have blanks and parentheses, hence the greedy match up to the last one. Zombies run no more.
    const std::string states = place_.control->must_run(
        fmt::format(R"(cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^.*) \([A-Za-z]\) [0-9]* {} .*/\1/p')", group_),
        "read process states");
    bool stopped = false;
    for (const char state : states) {
      if (state == '\n' || state == 'Z' || state == 'X') continue;
      if (state != 'T' && state != 't') return ProcessState::running;
      stopped = true;
    }
    return stopped ? ProcessState::stopped : ProcessState::gone;
  }

  [[nodiscard]] int input() const override { return -1; }
  [[nodiscard]] int output() const override { return -1; }
  void close_input() override {}
  [[nodiscard]] std::string describe() const override {
    return fmt::format("{} (pid {} on {})", program_, group_, place_.control->host());
  }

 protected:
  void kill_quietly() {
    try {
      signal(SIGKILL);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
      // Out of reach: the host's own dead-man ends it.
    }
  }
  [[nodiscard]] Control& control() { return *place_.control; }
  [[nodiscard]] const std::string& folder() const { return place_.folder; }
  [[nodiscard]] std::int64_t group() const { return group_; }

 private:
  SshPlace place_;
  std::string program_;
  std::int64_t group_;
  std::mutex mutex_;
  std::int64_t dead_man_ = 0;  // 0: not paused by us
};

class SpawnedProcess : public GroupProcess {
 public:
  SpawnedProcess(const SshPlace& place, const std::string& program, std::unique_ptr<Pump> pump)
      : GroupProcess(place, program, pump->group()), pump_(std::move(pump)) {}
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;
  ~SpawnedProcess() override { kill_quietly(); }

  std::optional<ExitStatus> wait(milliseconds limit) override { return pump_->wait(limit); }
  [[nodiscard]] int input() const override { return pump_->input(); }
  [[nodiscard]] int output() const override { return pump_->output(); }
  void close_input() override { pump_->close_input(); }

 private:
  std::unique_ptr<Pump> pump_;
};

class DaemonProcess : public GroupProcess {
 public:
  using GroupProcess::GroupProcess;
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;
  ~DaemonProcess() override { kill_quietly(); }

  std::optional<ExitStatus> wait(milliseconds limit) override {
    const Deadline deadline = steady_clock::now() + limit;
    for (milliseconds pause{5};; pause = std::min(pause * 2, milliseconds(200))) {
      if (const auto status = exit_status()) return status;
      if (steady_clock::now() >= deadline) return std::nullopt;
      std::this_thread::sleep_for(std::min<steady_clock::duration>(pause, deadline - steady_clock::now()));
    }
  }

 private:
  // Its supervisor on the host writes down how it ended, as a shell tells it: 128 + signal.
  std::optional<ExitStatus> exit_status() {
    const CommandResult result = control().run(fmt::format("cat {}/exits/{}", quote(folder()), group()));
    if (!result.ok()) return std::nullopt;
    int status = 0;
    std::from_chars(result.output.data(), result.output.data() + result.output.size(), status);
    if (status > 128) return ExitStatus{.code = 0, .signal = status - 128};
    return ExitStatus{.code = status, .signal = 0};
  }
};

std::string program_name(const Command& command) {
  return std::filesystem::path(command.argv.at(0)).filename();
}

}  // namespace

std::unique_ptr<NodeProcess> spawn_over_ssh(const SshPlace& place, const Command& command,
                                            const std::string& error_log) {
  const std::string script =
      fmt::format("{}; exec {} 2>>{}", list_group(place.folder), shell_command(command), quote(error_log));
  auto pump = std::make_unique<Pump>(place.session, script);
  return std::make_unique<SpawnedProcess>(place, program_name(command), std::move(pump));
}

std::unique_ptr<NodeProcess> start_daemon_over_ssh(const SshPlace& place, const Command& command,
                                                   const std::string& log) {
  const std::string daemon = fmt::format("{}; echo $$; exec {} </dev/null >>{} 2>&1", list_group(place.folder),
                                         shell_command(command), quote(log));
  // Not a member of the daemon's group, so it survives the group's SIGKILL and can say how the daemon ended.
  constexpr const char* kSupervisor = R"sh(
setsid /bin/sh -c "$1" &
exec >/dev/null 2>&1
wait $!
echo $? >"$2/.$!" && mv "$2/.$!" "$2/$!"
)sh";
  const std::string program = quote(command.argv.at(0));
  const std::string script = fmt::format(
      "command -v {0} >/dev/null || {{ echo {0} is not on this host, install it; exit 127; }}; : >>{1} || exit 1; "
      "echo $(setsid /bin/sh -c {2} holdfast-supervisor {3} {4} </dev/null 2>/dev/null &)",
      program, quote(log), quote(kSupervisor), quote(daemon), quote(place.folder + "/exits"));
  const std::string answer =
      place.control->must_run(script, fmt::format("start {}", program_name(command)), Control::Again::no);
  std::int64_t group = 0;
  std::from_chars(answer.data(), answer.data() + answer.size(), group);
  if (group <= 1) throw Error(fmt::format("{}: start {}: {}", place.control->host(), program_name(command), answer));
  return std::make_unique<DaemonProcess>(place, program_name(command), group);
}

std::string kill_listed_groups() {
  return R"sh(
[ ! -f "$folder/groups" ] || while read -r group start; do
  now=$(sed 's/^.*) //' "/proc/$group/stat" 2>/dev/null | cut -d' ' -f20)
  [ -z "$now" ] || [ "$start" = - ] || [ "$now" = "$start" ] || continue
  kill -s KILL -- "-$group" 2>/dev/null
done <"$folder/groups"
)sh";
}

}  // namespace holdfast
