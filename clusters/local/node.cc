#include "clusters/local/node.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "clusters/local/init.h"
#include "clusters/local/interface.h"
#include "clusters/local/process.h"
#include "clusters/local/root.h"
#include "clusters/local/world.h"
#include "harness/error.h"

namespace holdfast {

namespace {

constexpr const char* kDiscard = "/dev/null";

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  int take(std::size_t end) { return std::exchange(ends.at(end), -1); }
  std::array<int, 2> ends{-1, -1};
};

// The first thing a node does; returns only by becoming its init.
[[noreturn]] void become_node(const LocalNodeOptions& options, int control) {
  // Two ways to notice that the controller is gone: the kernel's signal, and the closed control socket.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Whatever else the controller has open (other nodes' sockets, the history) is none of a node's business.
  if (control > 3) ::close_range(3, static_cast<unsigned>(control) - 1, 0);
  ::close_range(static_cast<unsigned>(control) + 1, ~0U, 0);
  if (!receive_packet(control, true)) ::_exit(0);
  // The clock, the kernel's modules and the power button are the machine's, not a node's.
  for (const int capability : {CAP_SYS_TIME, CAP_SYS_MODULE, CAP_SYS_BOOT})
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  try {
    ::sethostname(options.name.c_str(), options.name.size());
    bring_up("lo");
    enter_composite_root({options.name, options.hosts, options.program_folder, in_user_namespace()});
    make_clock_page();
  } catch (const std::exception& error) {
    send_packet(control, {{"error", error.what()}});
    ::_exit(1);
  }
  send_packet(control, nlohmann::json::object());
  serve_as_init(control);
}

void drain(int descriptor, std::string& text, bool& open) {
  std::array<char, 16384> chunk{};
  const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
  if (count > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    open = false;
  }
}

// Reads both streams until they end; false when the time is up first.
bool read_streams(int out, int err, CommandResult& result, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> watched = {pollfd{out_open ? out : -1, POLLIN, 0}, pollfd{err_open ? err : -1, POLLIN, 0}};
    ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
    if (watched[0].revents != 0) drain(out, result.output, out_open);
    if (watched[1].revents != 0) drain(err, result.errors, err_open);
  }
  return true;
}

}  // namespace

LocalNode::LocalNode(LocalNodeOptions options) : options_(std::move(options)) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) throw system_error("socketpair");
  constexpr unsigned long kNamespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET;
  // Like fork(2), but into new namespaces at once: the child is PID 1 there and its parent is the controller itself.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, kNamespaces | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child < 0) {
    const Error error = system_error(fmt::format("cannot make node {}", options_.name));
    ::close(ends[0]);
    ::close(ends[1]);
    throw Error(error);
  }
  if (child == 0) become_node(options_, ends[1]);
  ::close(ends[1]);
  control_ = ends[0];
  init_ = child;
}

LocalNode::~LocalNode() {
  begin_stop();
  int status = 0;
  while (::waitpid(init_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(control_);
}

void LocalNode::begin_start() {
  send_packet(control_, nlohmann::json::object());
}

void LocalNode::finish_start() {
  const std::optional<Packet> packet = receive_packet(control_, true);
  if (!packet) throw Error(fmt::format("{}: the node died while it was made", name()));
  if (packet->message.contains("error")) {
    throw Error(fmt::format("{}: {}", name(), packet->message.at("error").get<std::string>()));
  }
  if (std::filesystem::exists(std::filesystem::path(options_.program_folder) / clock_page::kShim)) {
    clock_ = std::make_unique<LocalClock>(seen_from_here(clock_page::kFile));
  }
}

void LocalNode::begin_stop() {
  ::kill(init_, SIGKILL);
}

std::string LocalNode::data_folder() const {
  return kDataFolder;
}
std::string LocalNode::program_folder() const {
  return kProgramFolder;
}

void LocalNode::note_exit(const Packet& packet) {
  exits_[packet.message.at("exited")] = packet.message.at("status");
}

Packet LocalNode::receive() {
  std::optional<Packet> packet = receive_packet(control_, true);
  if (!packet) throw Error(fmt::format("{}: the node is dead", name()));
  return std::move(*packet);
}

Packet LocalNode::ask(const nlohmann::json& question, std::span<const int> descriptors) {
  const std::lock_guard lock(mutex_);
  if (!send_packet(control_, question, descriptors)) throw Error(fmt::format("{}: the node is dead", name()));
  while (true) {
    Packet packet = receive();
    if (!packet.message.contains("exited")) return packet;
    note_exit(packet);
  }
}

std::optional<int> LocalNode::exit_of(pid_t pid, bool wait) {
  const std::lock_guard lock(mutex_);
  while (!exits_.contains(pid)) {
    const std::optional<Packet> packet = receive_packet(control_, wait);
    if (!packet) return std::nullopt;
    note_exit(*packet);
  }
  return exits_.at(pid);
}

LocalNode::Started LocalNode::start(const Command& command, const std::string& log, std::span<const int> descriptors,
                                    bool client) {
  std::vector<std::string> environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                          "HOME=/root", "LANG=C.UTF-8"};
  if (clock_ != nullptr) {
    environment.push_back(fmt::format("LD_PRELOAD={}/{}", kProgramFolder, clock_page::kShim));
#ifdef __SANITIZE_ADDRESS__
    environment.emplace_back("ASAN_OPTIONS=verify_asan_link_order=0");  // it wants to come before every other library
#endif
  }
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  Packet answer = ask({{"argv", command.argv}, {"env", environment}, {"log", log}, {"client", client}}, descriptors);
  if (answer.message.contains("errno")) {
    throw Error(fmt::format("{}: cannot start {}: {}", name(), answer.message.at("what").get<std::string>(),
                            std::strerror(answer.message.at("errno").get<int>())));
  }
  return {answer.message.at("pid").get<pid_t>(), answer.descriptors.at(0)};
}

CommandResult LocalNode::run(const Command& command, std::chrono::milliseconds limit) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Pipe out;
  Pipe err;
  CommandResult result;
  Started started{};
  try {
    started = start(command, kDiscard, std::array{nothing, out.ends[1], err.ends[1]}, false);
  } catch (const Error& error) {
    ::close(nothing);
    return {.exit_status = 127, .timed_out = false, .output = {}, .errors = error.what()};
  }
  ::close(nothing);
  ::close(out.take(1));
  ::close(err.take(1));
  LocalProcess process(*this, command.argv.front(), started.pid, started.pidfd, -1, -1);
  result.timed_out = !read_streams(out.ends[0], err.ends[0], result, limit);
  if (result.timed_out) process.signal(SIGKILL);
  const std::optional<ExitStatus> status = process.wait(std::chrono::seconds(10));
  if (!status) throw Error(fmt::format("{}: {} does not end, not even by SIGKILL", name(), command.argv.front()));
  result.exit_status = status->signal != 0 ? 128 + status->signal : status->code;
  return result;
}

std::unique_ptr<NodeProcess> LocalNode::spawn(const Command& command, const std::string& error_log) {
  Pipe in;
  Pipe out;
  const Started started = start(command, error_log, std::array{in.ends[0], out.ends[1]}, true);
  ::fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
  ::fcntl(out.ends[0], F_SETFL, O_NONBLOCK);
  return std::make_unique<LocalProcess>(*this, command.argv.front(), started.pid, started.pidfd, in.take(1),
                                        out.take(0));
}

std::unique_ptr<NodeProcess> LocalNode::start_daemon(const Command& command, const std::string& log) {
  const Started started = start(command, log, {}, false);
  return std::make_unique<LocalProcess>(*this, command.argv.front(), started.pid, started.pidfd, -1, -1);
}

std::filesystem::path LocalNode::seen_from_here(const std::string& theirs) const {
  return fmt::format("/proc/{}/root{}", init_, theirs);
}

void LocalNode::upload(const std::filesystem::path& ours, const std::string& theirs) {
  std::filesystem::copy_file(ours, seen_from_here(theirs), std::filesystem::copy_options::overwrite_existing);
}

void LocalNode::download(const std::string& theirs, const std::filesystem::path& ours) {
  std::filesystem::copy_file(seen_from_here(theirs), ours, std::filesystem::copy_options::overwrite_existing);
}

}  // namespace holdfast
