#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/session.h"
#include "clusters/local/cluster.h"
#include "harness/error.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

struct Lab {
  std::size_t nodes = 6;
  std::vector<std::string> command;
};

// Removed with everything in it, whatever happens on the way.
struct ScratchFolder {
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "holdfast-lab-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw system_error("make a folder for keys");
    path = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw Error(fmt::format("cannot write {}", file.string()));
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

void make_key(const fs::path& file) {
  const std::string command = fmt::format("ssh-keygen -q -t ed25519 -N '' -C holdfast-lab -f '{}'", file.string());
  if (std::system(command.c_str()) != 0) throw Error("ssh-keygen failed: apt-get install openssh-client");
}

constexpr const char* kServerConfig = R"(Port 22
HostKey /data/ssh_host_key
AuthorizedKeysFile /data/authorized_keys
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UseDNS no
MaxSessions 100
MaxStartups 100:30:200
Subsystem sftp internal-sftp
)";

// A real sshd in a node, with a host key of its own that the lab's known_hosts lists.
std::unique_ptr<NodeProcess> start_sshd(Node& node, const fs::path& folder, std::ofstream& known_hosts) {
  const fs::path key = folder / ("host_" + node.name());
  make_key(key);
  node.upload(key, "/data/ssh_host_key");
  node.upload(folder / "user_key.pub", "/data/authorized_keys");
  node.upload(folder / "sshd_config", "/data/sshd_config");
  known_hosts << node.address() << " " << read_text(key.string() + ".pub");
  auto sshd = node.start_daemon({{"/usr/sbin/sshd", "-D", "-e", "-f", "/data/sshd_config"}, {}}, "/data/sshd.log");
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (!node.run({{"grep", "-q", "Server listening", "/data/sshd.log"}, {}}, seconds(2)).ok()) {
    if (sshd->state() == ProcessState::gone || std::chrono::steady_clock::now() > deadline) {
      const std::string said = node.run({{"tail", "-n", "1", "/data/sshd.log"}, {}}, seconds(2)).output;
      throw Error(fmt::format("{}: sshd does not start: {}; without root it cannot change users", node.name(), said));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return sshd;
}

int run_command(std::vector<std::string> words, const std::string& config) {
  ::setenv("HOLDFAST_LAB", config.c_str(), 1);
  for (std::string& word : words) {
    if (word == "{config}") word = config;
  }
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork");
  if (child == 0) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv.data());
    fmt::print(stderr, "holdfast: cannot start {}\n", words[0]);
    ::_exit(254);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int lab(const Lab& command) {
  if (command.nodes < 1 || command.nodes > 50) throw UsageError(fmt::format("--nodes {}: from 1 to 50", command.nodes));
  const ScratchFolder folder;
  make_key(folder.path / "user_key");
  write_text(folder.path / "sshd_config", kServerConfig);
  std::ofstream known_hosts(folder.path / "known_hosts");
  std::string config;
  LocalCluster cluster({.servers = command.nodes, .clients = 0, .program_folder = our_program_folder()});
  std::vector<std::unique_ptr<NodeProcess>> daemons;
  for (Node* node : cluster.servers()) {
    daemons.push_back(start_sshd(*node, folder.path, known_hosts));
    config += fmt::format("Host {}\n  HostName {}\n  User root\n", node->name(), node->address());
  }
  known_hosts.close();
  config += fmt::format(
      "Host *\n  IdentityFile {0}/user_key\n  UserKnownHostsFile {0}/known_hosts\n  GlobalKnownHostsFile {0}/none\n",
      folder.path.string());
  write_text(folder.path / "ssh_config", config);
  return run_command(command.command, (folder.path / "ssh_config").string());
}

}  // namespace

void add_lab(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Lab>();
  CLI::App* const sub = app.add_subcommand("lab", "Make local nodes with a real sshd each and run COMMAND… among them");
  sub->add_option("--nodes", command->nodes, "How many: n1, n2, …")->capture_default_str();
  sub->prefix_command();
  sub->footer(
      "\nCOMMAND… is run among the nodes; {config} in it becomes the path of their ssh configuration.\n"
      "\nExample, a run over SSH with nothing but this machine:\n"
      "  holdfast lab --nodes 6 ./holdfast run L05 --nodes n1,n2,n3,n4,n5,n6 --ssh-config '{config}'");
  sub->callback([command, sub, &exit_code] {
    command->command = sub->remaining();
    if (command->command.empty()) throw UsageError("lab: no command given; see holdfast lab --help");
    exit_code = lab(*command);
  });
}

}  // namespace holdfast
