#include "clusters/ssh/test_sshd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "clusters/ssh/connect.h"

namespace holdfast {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TestFolder::TestFolder() {
  std::string name = "/var/tmp/ssh-test.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw system_error("mkdtemp " + name);
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

pid_t start_program(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(fmt::format("start {}: error {}", argv[0], error));
  return pid;
}

int run_program(const std::vector<std::string>& argv) {
  const pid_t pid = start_program(argv, "/dev/null");
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void stop_program(pid_t pid) {
  if (pid <= 0) return;
  kill(pid, SIGTERM);
  waitpid(pid, nullptr, 0);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool eventually(const std::function<bool()>& condition, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (!condition()) {
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw system_error("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0) throw system_error("bind");
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) throw system_error("getsockname");
  close(descriptor);
  return ntohs(address.sin_port);
}

std::string TestSshd::missing() {
  if (access("/usr/sbin/sshd", X_OK) != 0) return "no /usr/sbin/sshd here: install openssh-server";
  if (geteuid() != 0) return "sshd with a config of its own needs root";
  mkdir("/run/sshd", 0755);
  if (access("/run/sshd", F_OK) != 0) return "sshd needs the folder /run/sshd and it cannot be made";
  return {};
}

TestSshd::TestSshd(const TestFolder& folder, std::string address, int port, const std::vector<std::string>& prefix,
                   const std::string& config)
    : folder_(folder),
      address_(std::move(address)),
      port_(port == 0 ? free_port() : port),
      tag_(fmt::format("{}-{}-", address_, port_)) {
  const auto make_key = [](const std::string& file) {
    if (access(file.c_str(), F_OK) == 0) return;
    if (run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file}) != 0)
      throw Error("ssh-keygen failed");
  };
  make_key(host_key());
  make_key(folder_.file("user_key"));
  make_key(folder_.file("other_key"));
  write_file(folder_.file("authorized_keys"), read_file(folder_.file("user_key.pub")));
  trust(host_key() + ".pub");
  // SHLVL keeps bash, run by sshd, from reading the machine's start-up files.
  write_file(
      folder_.file(tag_ + "sshd_config"),
      config + fmt::format(
                   "Port {}\nListenAddress {}\nHostKey {}\nPidFile none\nUsePAM no\nPermitRootLogin prohibit-password\n"
                   "PasswordAuthentication no\nKbdInteractiveAuthentication no\nAuthorizedKeysFile {}\nStrictModes no\n"
                   "UseDNS no\nMaxSessions 100\nMaxStartups 100:30:200\nSubsystem sftp internal-sftp\nSetEnv SHLVL=5\n",
                   port_, address_, host_key(), folder_.file("authorized_keys")));
  std::vector<std::string> argv = prefix;
  for (const std::string& argument : {std::string("/usr/sbin/sshd"), std::string("-D"), std::string("-e"),
                                      std::string("-f"), folder_.file(tag_ + "sshd_config")})
    argv.push_back(argument);
  pid_ = start_program(argv, folder_.file(tag_ + "sshd.log"));
}

TestSshd::~TestSshd() {
  stop_program(pid_);
}

void TestSshd::wait_until_it_listens() const {
  const auto answers = [this] {
    try {
      close(connect_tcp(address_, static_cast<unsigned>(port_), steady_clock::now() + milliseconds(500)).descriptor);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  if (!eventually(answers)) throw Error("sshd does not listen: " + read_file(folder_.file(tag_ + "sshd.log")));
}

void TestSshd::trust(const std::string& public_key_file) const {
  const std::string name = port_ == 22 ? address_ : fmt::format("[{}]:{}", address_, port_);
  write_file(known_hosts(), name + " " + read_file(public_key_file));
}

std::string TestSshd::config_entry(const std::string& alias, const std::string& identity) const {
  return fmt::format("Host {}\n  HostName {}\n  Port {}\n  User root\n  UserKnownHostsFile {}\n  IdentityFile {}\n",
                     alias, address_, port_, known_hosts(), folder_.file(identity));
}

SessionOptions TestSshd::options(const std::string& alias, const std::string& identity, const std::string& more) const {
  const std::string file = folder_.file(tag_ + alias + identity + "_config");
  write_file(file, config_entry(alias, identity) + more);
  return {.host = alias, .ssh_config = file, .connect_limit = std::chrono::seconds(10), .password = {}};
}

}  // namespace holdfast
