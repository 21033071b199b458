#include "clusters/ssh/node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <utility>

#include "clusters/ssh/quote.h"
#include "clusters/ssh/transfer.h"

namespace holdfast {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

// Ends what is on the list of the folder in the variable `folder`, and the folder. Symbolic links and what others own
// are left alone.
std::string end_folder() {
  return R"(if [ -d "$folder" ] && [ ! -h "$folder" ] && [ -O "$folder" ]; then )" + kill_listed_groups() +
         R"(rm -rf -- "$folder"; fi)";
}

}  // namespace

SessionOptions session_options(const std::string& host, const SshOptions& options) {
  return {.host = host,
          .ssh_config = options.ssh_config,
          .connect_limit = options.connect_limit,
          .password = options.password};
}

// A session out of the pool, or a new one; goes back unless its use threw.
class SshNode::Loan {
 public:
  explicit Loan(SshNode& node) : node_(node) {
    const std::lock_guard lock(node_.mutex_);
    if (node_.idle_.empty()) {
      session_ = std::make_unique<Session>(node_.place_.session);
    } else {
      session_ = std::move(node_.idle_.back());
      node_.idle_.pop_back();
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (!session_->connected()) return;
    const std::lock_guard lock(node_.mutex_);
    node_.idle_.push_back(std::move(session_));
  }
  Session& operator*() const { return *session_; }

 private:
  SshNode& node_;
  std::unique_ptr<Session> session_;
};

SshNode::SshNode(std::string name, const SshOptions& options) : name_(std::move(name)) {
  place_.session = session_options(name_, options);
  place_.control = std::make_shared<Control>(place_.session);
  make_folder(options);
  try {
    if (!options.program_folder.empty()) upload_programs(options.program_folder);
  } catch (...) {
    place_.control->stop_beating();  // the destructor does not run; without the file the warden acts at once
    (void)place_.control->run(fmt::format("folder={}; {}", quote(place_.folder), end_folder()));
    throw;
  }
}

SshNode::~SshNode() {
  place_.control->stop_beating();
  try {
    (void)place_.control->run(
        fmt::format("folder={}; {}; {}", quote(place_.folder), Control::disarm(warden_), end_folder()),
        std::chrono::seconds(10));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Out of reach: the warden does it.
  }
}

void SshNode::make_folder(const SshOptions& options) {
  Control& control = *place_.control;
  (void)clean_over_ssh(control, SshLeftovers::stale);
  const std::string run = options.run_id.empty() ? fmt::format("{}", getpid()) : options.run_id;
  const std::string made = control.must_run(
      fmt::format(
          "command -v setsid >/dev/null || {{ echo setsid is missing, install util-linux; exit 1; }}; "
          "folder=$(mktemp -d {}.XXXXXX) && chmod 711 \"$folder\" && cd \"$folder\" && mkdir data programs exits && "
          "echo 0 >controller && echo \"$folder\" && echo \"$SSH_CONNECTION\"",
          quote("/tmp/holdfast-" + run)),
      "make a folder in /tmp");
  std::istringstream stream(made);
  std::string client_port;
  std::string server_address;
  stream >> place_.folder >> controller_address_ >> client_port >> server_address >> ssh_port_;
  address_ = control.address();
  if (address_.empty()) address_ = server_address;
  control.beat(place_.folder + "/controller", options.dead_man);
  const std::string warden = control.must_run(
      control.arm(fmt::format("folder={}; {}", quote(place_.folder), end_folder())), "start the warden");
  std::from_chars(warden.data(), warden.data() + warden.size(), warden_);
}

void SshNode::upload_programs(const std::filesystem::path& folder) {
  const Loan session(*this);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (!entry.is_regular_file() || !file.starts_with("holdfast-")) continue;
    upload_file(*session, entry.path(), program_folder() + "/" + file);
  }
}

CommandResult SshNode::run(const Command& command, std::chrono::milliseconds limit) {
  const std::string script = "exec " + shell_command(command);
  const Loan session(*this);
  return (*session).run(script, limit);
}

std::unique_ptr<NodeProcess> SshNode::spawn(const Command& command, const std::string& error_log) {
  return spawn_over_ssh(place_, command, error_log);
}

std::unique_ptr<NodeProcess> SshNode::start_daemon(const Command& command, const std::string& log) {
  return start_daemon_over_ssh(place_, command, log);
}

void SshNode::upload(const std::filesystem::path& ours, const std::string& theirs) {
  const Loan session(*this);
  upload_file(*session, ours, theirs);
}

void SshNode::download(const std::string& theirs, const std::filesystem::path& ours) {
  const Loan session(*this);
  download_file(*session, theirs, ours);
}

std::vector<std::string> clean_over_ssh(Control& control, SshLeftovers leftovers) {
  // -mmin: minutes since the last heartbeat. A folder without one was never used and is as old as itself.
  const char* const age = leftovers == SshLeftovers::all ? "" : "-mmin +1440 ";
  const std::string table = leftovers == SshLeftovers::all
                                ? "nft delete table inet holdfast 2>/dev/null && echo nftables table inet holdfast; "
                                : "";
  const std::string script = fmt::format(R"sh({}
for folder in /tmp/holdfast-*; do
  [ -n "$(find "$folder/controller" -prune {}2>/dev/null)" ] || continue
  {}
  [ -e "$folder" ] || echo "$folder"
done
)sh",
                                         table, age, end_folder());
  std::vector<std::string> removed;
  for (const std::string& line : lines_of(control.must_run(script, "clean up after earlier runs")))
    removed.push_back(fmt::format("{}: removed {}", control.host(), line));
  return removed;
}

}  // namespace holdfast
