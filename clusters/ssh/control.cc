#include "clusters/ssh/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>

#include "clusters/ssh/quote.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// $1 heartbeat, $2 nap, $3 action. The heartbeat's content is compared and not its time: clocks may be wrong here.
constexpr const char* kDeadMan = R"sh(
while last=$(cat "$1" 2>/dev/null) && sleep "$2" && [ "$(cat "$1" 2>/dev/null)" != "$last" ]; do :; done
eval "$3"
)sh";

// An ordinary user's PATH lacks the folders where servers and nft are.
constexpr const char* kShell = R"(PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"; export PATH; exec /bin/sh)";

}  // namespace

Control::Control(const SessionOptions& options) : host_(options.host), session_(options) {
  session_.connect();
}

Control::~Control() {
  stop_beating();
}

std::string Control::address() {
  const std::lock_guard lock(mutex_);
  return session_.address();
}

CommandResult Control::ask(const std::string& script, Deadline deadline) {
  if (!shell_ || !session_.connected()) {
    shell_.reset();
    shell_ = std::make_unique<Channel>(session_, kShell, deadline);
  }
  const std::string mark = fmt::format("holdfast-{}-{}", shell_->group(), ++asked_);
  // A subshell: neither `exit` nor a syntax error may end the shell that we talk to.
  const std::string request =
      fmt::format("( eval {} ) </dev/null 2>&1; status=$?; echo; echo {} $status\n", quote(script), mark);
  std::string_view unsent = request;
  std::string answer;
  while (true) {
    if (!unsent.empty()) unsent.remove_prefix(shell_->write(unsent));
    const std::size_t got = shell_->read(answer, 1U << 16U);
    const std::size_t at = answer.rfind("\n" + mark + " ");
    if (at != std::string::npos && answer.back() == '\n') {
      CommandResult result;
      std::from_chars(answer.data() + at + mark.size() + 2, answer.data() + answer.size(), result.exit_status);
      answer.resize(at);
      result.output = std::move(answer);
      return result;
    }
    std::string noise;  // of the login shell's start-up files
    if (got + shell_->read_errors(noise, 4096) > 0) continue;
    if (shell_->ended()) throw session_.failure("the control connection broke");
    if (steady_clock::now() >= deadline)
      throw Error(host_ + ": no answer in time on the control connection; the host is overloaded or cut off");
    session_.wait_readable(deadline);
  }
}

CommandResult Control::run(const std::string& script, milliseconds limit, Again again) {
  const Deadline deadline = steady_clock::now() + limit;
  const std::lock_guard lock(mutex_);
  try {
    return ask(script, deadline);
  } catch (const RefusedError&) {
    throw;
  } catch (const Error&) {
    shell_.reset();
    session_.disconnect();
    if (again == Again::no || steady_clock::now() >= deadline) throw;
  }
  try {
    return ask(script, deadline);
  } catch (const Error&) {
    shell_.reset();
    session_.disconnect();
    throw;
  }
}

std::string Control::must_run(const std::string& script, const std::string& what, Again again) {
  CommandResult result = run(script, std::chrono::seconds(20), again);
  while (!result.output.empty() && result.output.back() == '\n') result.output.pop_back();
  if (result.ok()) return result.output;
  std::replace(result.output.begin(), result.output.end(), '\n', ' ');
  throw Error(fmt::format("{}: {}: {} (exit {})", host_, what, result.output, result.exit_status));
}

void Control::beat(const std::string& file, milliseconds dead_man) {
  beat_file_ = file;
  dead_man_ = dead_man;
  beater_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    for (std::uint64_t number = 1; !stop.stop_requested(); ++number) {
      try {
        // Never into a folder that somebody removed.
        run(fmt::format("[ ! -e {0} ] || echo {1} >{0}", quote(beat_file_), number), dead_man_);
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
        // The host may come back; if it does not, the run notices by itself.
      }
      wake.wait_for(lock, stop, dead_man_ / 4, [] { return false; });
    }
  });
}

void Control::stop_beating() {
  beater_.request_stop();
  if (beater_.joinable()) beater_.join();
}

std::string Control::arm(const std::string& action) const {
  const double nap = std::chrono::duration<double>(dead_man_).count() / 2;
  return fmt::format("setsid /bin/sh -c {} holdfast-dead-man {} {:.3g} {} </dev/null >/dev/null 2>&1 & echo $!",
                     quote(kDeadMan), quote(beat_file_), nap, quote(action));
}

std::string Control::disarm(std::int64_t dead_man) {
  // One that was armed a moment ago may not have its own group yet.
  return fmt::format("kill -s KILL -- -{0} 2>/dev/null || kill -s KILL {0} 2>/dev/null || :", dead_man);
}

}  // namespace holdfast
