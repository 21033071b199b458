#include "clusters/ssh/session.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include "clusters/ssh/quote.h"
#include "clusters/ssh/test_sshd.h"
#include "clusters/ssh/transfer.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SshSession : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = TestSshd::missing(); !reason.empty()) GTEST_SKIP() << reason;
    sshd_ = std::make_unique<TestSshd>(folder_);
    sshd_->wait_until_it_listens();
  }
  TestFolder folder_;
  std::unique_ptr<TestSshd> sshd_;
};

// What went wrong, or nothing.
template <typename Kind = Error>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "(no error)";
}

std::string fingerprint_of(const std::string& public_key, const TestFolder& folder) {
  const std::string file = folder.file("fingerprint");
  run_program({"/bin/sh", "-c", "ssh-keygen -lf " + quote(public_key) + " | cut -d' ' -f2 >" + quote(file)});
  std::string text = read_file(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

TEST_F(SshSession, RunsACommandAndTellsEverythingAboutIt) {
  Session session(sshd_->options());
  session.connect();
  EXPECT_EQ(session.address(), "127.0.0.1");
  const CommandResult result = session.run("echo out; echo err >&2; exit 7", seconds(10));
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(session.run("exit 0", seconds(10)).ok());
  EXPECT_EQ(session.run("kill -s TERM $$", seconds(10)).exit_status, 128 + SIGTERM);
  EXPECT_EQ(session.run("cat", seconds(10)).output, "");  // standard input is empty
  EXPECT_EQ(session.run("head -c 3000000 /dev/zero", seconds(30)).output.size(), 3000000U);
}

TEST_F(SshSession, LosesNothingAtTheEndOfTheOutput) {
  Session session(sshd_->options());
  session.connect();
  for (std::size_t round = 1; round <= 40; ++round) {
    const std::string script = fmt::format("head -c {0} /dev/zero; head -c {0} /dev/zero >&2; exit 4", round * 7001);
    const CommandResult result = session.run(script, seconds(30));
    ASSERT_EQ(result.output.size(), round * 7001);
    ASSERT_EQ(result.errors.size(), round * 7001);
    ASSERT_EQ(result.exit_status, 4);
  }
}

TEST_F(SshSession, TimeOutKillsTheWholeRemoteGroup) {
  Session session(sshd_->options());
  session.connect();
  const auto began = steady_clock::now();
  const CommandResult result = session.run("echo $$; sleep 987 & sleep 987; echo never", milliseconds(300));
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(steady_clock::now() - began, seconds(5));
  const int group = std::stoi(result.output);
  EXPECT_TRUE(eventually([group] { return kill(-group, 0) != 0; })) << group;
  EXPECT_EQ(session.run("echo still usable", seconds(10)).output, "still usable\n");
}

TEST_F(SshSession, TenSessionsWorkInParallel) {
  std::vector<std::jthread> threads;
  std::array<std::string, 10> outputs;
  threads.reserve(outputs.size());
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    threads.emplace_back([&, index] {
      Session session(sshd_->options("node" + std::to_string(index)));
      session.connect();
      for (int round = 0; round < 5; ++round)
        outputs[index] += session.run("printf " + std::to_string(index), seconds(30)).output;
    });
  }
  threads.clear();
  for (std::size_t index = 0; index < outputs.size(); ++index)
    EXPECT_EQ(outputs[index], std::string(5, static_cast<char>('0' + index)));
}

TEST_F(SshSession, CarriesLargeFilesBothWaysWithTheirMode) {
  std::string content(8U << 20U, '\0');
  std::mt19937 random(1);
  for (char& byte : content) byte = static_cast<char>(random());
  write_file(folder_.file("ours"), content);
  chmod(folder_.file("ours").c_str(), 0751);
  Session session(sshd_->options());
  session.connect();
  upload_file(session, folder_.file("ours"), folder_.file("it's theirs"));
  EXPECT_TRUE(read_file(folder_.file("it's theirs")) == content);
  struct stat status{};
  ASSERT_EQ(stat(folder_.file("it's theirs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0751U);
  download_file(session, folder_.file("it's theirs"), folder_.file("back"));
  EXPECT_TRUE(read_file(folder_.file("back")) == content);
  ASSERT_EQ(stat(folder_.file("back").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0751U);
  EXPECT_EQ(session.run("echo alive", seconds(10)).output, "alive\n");
}

TEST_F(SshSession, ReplacesAProgramThatIsRunning) {
  Session session(sshd_->options());
  session.connect();
  upload_file(session, "/bin/sleep", folder_.file("program"));
  const pid_t pid = start_program({folder_.file("program"), "100"}, "/dev/null");
  upload_file(session, "/bin/cat", folder_.file("program"));
  EXPECT_TRUE(read_file(folder_.file("program")) == read_file("/bin/cat"));
  stop_program(pid);
}

TEST_F(SshSession, TransfersSayWhatIsWrong) {
  Session session(sshd_->options());
  session.connect();
  write_file(folder_.file("ours"), "x");
  EXPECT_THAT(error_of([&] { upload_file(session, folder_.file("ours"), "/nowhere/file"); }),
              AllOf(HasSubstr("node"), HasSubstr("/nowhere/file"), HasSubstr("no such file")));
  EXPECT_THAT(error_of([&] { download_file(session, "/nowhere", folder_.file("x")); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of([&] { upload_file(session, folder_.file("absent"), "/tmp/x"); }), HasSubstr("absent"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x")));
}

TEST_F(SshSession, UnknownHostKeyIsRefusedWithFingerprintAndFix) {
  write_file(sshd_->known_hosts(), "");
  Session session(sshd_->options());
  const std::string error = error_of<RefusedError>([&] { session.connect(); });
  EXPECT_THAT(error,
              AllOf(HasSubstr("node: unknown host key"), HasSubstr(fingerprint_of(sshd_->host_key() + ".pub", folder_)),
                    HasSubstr("ssh-keyscan -p " + std::to_string(sshd_->port())), HasSubstr(sshd_->known_hosts()),
                    Not(HasSubstr("\n"))));
  EXPECT_FALSE(session.connected());
  EXPECT_EQ(read_file(sshd_->known_hosts()), "");  // nothing is accepted on the quiet
}

TEST_F(SshSession, TheFixInTheErrorWorks) {
  std::filesystem::remove(sshd_->known_hosts());
  Session session(sshd_->options());
  const std::string error = error_of<RefusedError>([&] { session.connect(); });
  const std::size_t at = error.find("ssh-keyscan");
  ASSERT_NE(at, std::string::npos) << error;
  ASSERT_EQ(run_program({"/bin/sh", "-c", error.substr(at)}), 0);
  session.connect();
  EXPECT_TRUE(session.connected());
}

TEST_F(SshSession, ChangedHostKeyIsRefusedLoudly) {
  sshd_->trust(folder_.file("other_key.pub"));
  Session session(sshd_->options());
  EXPECT_THAT(error_of<RefusedError>([&] { session.connect(); }),
              AllOf(HasSubstr("HOST KEY CHANGED"), HasSubstr(fingerprint_of(sshd_->host_key() + ".pub", folder_)),
                    HasSubstr("ssh-keygen -R"), Not(HasSubstr("\n"))));
  EXPECT_FALSE(session.connected());
}

TEST_F(SshSession, KeyOfAnotherTypeIsRefused) {
  ASSERT_EQ(run_program({"ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", folder_.file("ecdsa_key")}), 0);
  sshd_->trust(folder_.file("ecdsa_key.pub"));
  Session session(sshd_->options());
  EXPECT_THAT(error_of<RefusedError>([&] { session.connect(); }), HasSubstr("HOST KEY OF ANOTHER TYPE"));
}

TEST_F(SshSession, StrictHostKeyCheckingNoIsTheUsersWish) {
  write_file(sshd_->known_hosts(), "");
  Session session(sshd_->options("node", "user_key", "  StrictHostKeyChecking no\n"));
  session.connect();
  EXPECT_EQ(session.run("echo in", seconds(10)).output, "in\n");
}

TEST_F(SshSession, WrongUserKeyListsWhatWasTried) {
  Session session(sshd_->options("node", "other_key"));
  EXPECT_THAT(error_of<RefusedError>([&] { session.connect(); }),
              AllOf(HasSubstr("node: login as root refused"), HasSubstr("agent"), HasSubstr(folder_.file("other_key")),
                    HasSubstr("publickey"), HasSubstr("authorized_keys"), Not(HasSubstr("\n"))));
}

TEST_F(SshSession, AgentLogsIn) {
  const std::string socket = folder_.file("agent");
  const pid_t agent = start_program({"ssh-agent", "-D", "-a", socket}, folder_.file("agent.log"));
  ASSERT_TRUE(eventually([&] { return access(socket.c_str(), F_OK) == 0; }));
  Session session(sshd_->options("node", "absent_key", "  IdentityAgent " + socket + "\n"));
  EXPECT_THAT(error_of<RefusedError>([&] { session.connect(); }), HasSubstr("agent"));  // the agent has no key yet
  ASSERT_EQ(run_program({"env", "SSH_AUTH_SOCK=" + socket, "ssh-add", "-q", folder_.file("user_key")}), 0);
  session.connect();
  EXPECT_EQ(session.run("echo in", seconds(10)).output, "in\n");
  stop_program(agent);
}

TEST_F(SshSession, PasswordLogsInButNeverGoesToAHostWhoseKeyHasChanged) {
  if (run_program({"unshare", "-m", "true"}) != 0) GTEST_SKIP() << "no mount namespace can be made here";
  // This sshd sees a shadow file of ours, in which root has the password "open sesame".
  write_file(
      folder_.file("shadow"),
      "root:$6$holdfast$AquPQpovUh6LLcX/DTIgGSpCmxh5oGw2FWGrQaBV3hRjrotVLmQGUQrABKt3VWBeFs9pno1PtxxSthDQq4B5I0:19000:0:"
      "99999:7:::\n");
  const TestSshd sshd(
      folder_, "127.0.0.1", 0,
      {"unshare", "-m", "/bin/sh", "-c", R"(mount --bind "$0" /etc/shadow && exec "$@")", folder_.file("shadow")},
      "PasswordAuthentication yes\nPermitRootLogin yes\n");
  sshd.wait_until_it_listens();
  SessionOptions options = sshd.options("node", "absent_key");
  EXPECT_THAT(error_of<RefusedError>([&] { Session(options).connect(); }),
              HasSubstr("HOLDFAST_SSH_PASSWORD is not set"));
  options.password = "wrong";
  const std::string refusal = error_of<RefusedError>([&] { Session(options).connect(); });
  EXPECT_THAT(refusal, AllOf(HasSubstr("tried: agent"), HasSubstr(", password;"), Not(HasSubstr("wrong"))));
  options.password = "open sesame";
  Session session(options);
  session.connect();
  EXPECT_EQ(session.run("echo in", seconds(10)).output, "in\n");

  sshd.trust(folder_.file("other_key.pub"));
  options = sshd.options("node", "absent_key", "  StrictHostKeyChecking no\n");
  options.password = "open sesame";
  EXPECT_THAT(error_of<RefusedError>([&] { Session(options).connect(); }),
              HasSubstr("no password (the host key has changed)"));
}

// A config for a port of 127.0.0.1 on which nothing listens. The port of an sshd that was stopped will not do: a child
// that it has just forked keeps the socket open for a moment.
SessionOptions closed_port(const TestFolder& folder, int port) {
  write_file(folder.file("closed_config"),
             fmt::format("Host closed\n  HostName 127.0.0.1\n  Port {0}\n  User root\n  IdentityFile {1}\n"
                         "  UserKnownHostsFile {2}\n",
                         port, folder.file("user_key"), folder.file(fmt::format("127.0.0.1-{}-known_hosts", port))));
  return {.host = "closed", .ssh_config = folder.file("closed_config"), .connect_limit = seconds(10), .password = {}};
}

TEST_F(SshSession, RefusedPortFailsAtOnce) {
  Session session(closed_port(folder_, free_port()));
  const auto began = steady_clock::now();
  EXPECT_THAT(error_of([&] { session.connect(); }),
              AllOf(HasSubstr("closed: connect to 127.0.0.1 port"), HasSubstr("refused")));
  EXPECT_LT(steady_clock::now() - began, seconds(5));
}

// A listener that accepts, says `greeting` and nothing more.
class Mute {
 public:
  explicit Mute(std::string greeting) : greeting_(std::move(greeting)) {
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(descriptor_, 5) != 0 ||
        getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw system_error("listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] {
      const int accepted = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) return;
      (void)!write(accepted, greeting_.data(), greeting_.size());
      char byte = 0;
      while (read(accepted, &byte, 1) > 0) {
      }
      close(accepted);
    });
  }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;
  ~Mute() {
    shutdown(descriptor_, SHUT_RDWR);
    thread_.join();
    close(descriptor_);
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  std::string greeting_;
  int descriptor_ = -1;
  int port_ = 0;
  std::jthread thread_;
};

class SilentHost : public testing::TestWithParam<std::string> {};

TEST_P(SilentHost, EndsWithinTheTimeOut) {
  const TestFolder folder;
  const Mute mute(GetParam());
  write_file(folder.file("config"), "Host mute\n  HostName 127.0.0.1\n  Port " + std::to_string(mute.port()) + "\n");
  Session session(
      {.host = "mute", .ssh_config = folder.file("config"), .connect_limit = milliseconds(700), .password = {}});
  const auto began = steady_clock::now();
  EXPECT_THAT(error_of([&] { session.connect(); }), AllOf(HasSubstr("mute: no SSH answer within 700 ms")));
  const auto took = steady_clock::now() - began;
  EXPECT_GE(took, milliseconds(690));
  EXPECT_LT(took, milliseconds(2500));
}

INSTANTIATE_TEST_SUITE_P(AtTheBannerAndInTheKeyExchange, SilentHost,
                         testing::Values("", "SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-Open"));

TEST(SshConnect, AddressThatNeverAnswersEndsWithinTheTimeOut) {
  // A listener whose queue is full lets further connections hang in TCP itself.
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(descriptor, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(descriptor, 0), 0);
  ASSERT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<int> fillers;
  for (int count = 0; count < 8; ++count) {
    fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int result = connect(fillers.back(), reinterpret_cast<sockaddr*>(&address), size);
    ASSERT_TRUE(result == 0 || errno == EINPROGRESS);
  }
  const TestFolder folder;
  write_file(folder.file("config"),
             "Host full\n  HostName 127.0.0.1\n  Port " + std::to_string(ntohs(address.sin_port)) + "\n");
  Session session(
      {.host = "full", .ssh_config = folder.file("config"), .connect_limit = milliseconds(500), .password = {}});
  const auto began = steady_clock::now();
  EXPECT_THAT(error_of([&] { session.connect(); }), HasSubstr("full: "));
  EXPECT_LT(steady_clock::now() - began, milliseconds(2500));
  for (const int filler : fillers) close(filler);
  close(descriptor);
}

TEST(SshConnect, UnknownNameAndMissingConfigAreNamed) {
  const TestFolder folder;
  write_file(folder.file("config"), "Host other\n  HostName 127.0.0.1\n");
  Session unknown({.host = "no-such-host.invalid",
                   .ssh_config = folder.file("config"),
                   .connect_limit = seconds(10),
                   .password = {}});
  EXPECT_THAT(error_of([&] { unknown.connect(); }), HasSubstr("no-such-host.invalid: resolve no-such-host.invalid"));
  Session without({.host = "node", .ssh_config = folder.file("absent"), .connect_limit = seconds(10), .password = {}});
  EXPECT_THAT(error_of<UsageError>([&] { without.connect(); }), AllOf(HasSubstr("--ssh-config"), HasSubstr("absent")));
}

TEST_F(SshSession, ReconnectsWhenItsServerProcessWasKilled) {
  Session session(sshd_->options());
  session.connect();
  const int server = std::stoi(session.run("ps -o ppid= -p $$", seconds(10)).output);
  ASSERT_GT(server, 1);
  ASSERT_NE(server, sshd_->pid());
  ASSERT_EQ(kill(server, SIGKILL), 0);
  ASSERT_TRUE(eventually([server] { return kill(server, 0) != 0; }));
  EXPECT_EQ(session.run("echo again", seconds(10)).output, "again\n");
}

TEST_F(SshSession, ACommandWhoseConnectionBreaksIsAnErrorAndIsNotRunTwice) {
  Session session(sshd_->options());
  session.connect();
  const std::string marks = folder_.file("marks");
  const std::string error = error_of([&] {
    (void)session.run("echo x >>" + quote(marks) + "; kill -s KILL $(ps -o ppid= -p $$); sleep 2", seconds(20));
  });
  EXPECT_THAT(error, HasSubstr("node: the connection broke"));
  EXPECT_EQ(read_file(marks), "x\n");
}

TEST_F(SshSession, PatienceWaitsForAHostThatComesUp) {
  const int port = free_port();
  Session session(closed_port(folder_, port));
  EXPECT_THAT(error_of([&] { session.connect(); }), HasSubstr("refused"));
  std::string error;
  std::jthread waiting(
      [&] { error = error_of([&] { session.connect_patiently(steady_clock::now() + seconds(20)); }); });
  const TestSshd late(folder_, "127.0.0.1", port);
  waiting.join();
  EXPECT_EQ(error, "(no error)");
  EXPECT_TRUE(session.connected());
}

TEST_F(SshSession, PatienceEnds) {
  Session session(closed_port(folder_, free_port()));
  const auto began = steady_clock::now();
  const std::string error = error_of([&] { session.connect_patiently(began + milliseconds(400)); });
  EXPECT_THAT(error, HasSubstr("refused"));
  EXPECT_GE(steady_clock::now() - began, milliseconds(150));  // 50 + 100: it tried more than once
  EXPECT_LT(steady_clock::now() - began, seconds(5));
}

}  // namespace
}  // namespace holdfast
