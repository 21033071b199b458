#include "clusters/ssh/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/libssh.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "clusters/ssh/connect.h"
#include "clusters/ssh/quote.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// "SHA256:AbC…", the form that ssh, ssh-keygen -l and ssh-keyscan users compare.
std::string fingerprint(ssh_session session) {
  ssh_key key = nullptr;
  if (ssh_get_server_publickey(session, &key) != SSH_OK) return "SHA256:?";
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  std::string text = "SHA256:?";
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) == SSH_OK) {
    char* formatted = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    if (formatted != nullptr) text = formatted;
    ssh_string_free_char(formatted);
    ssh_clean_pubkey_hash(&hash);
  }
  text += fmt::format(" ({})", ssh_key_type_to_char(ssh_key_type(key)));
  ssh_key_free(key);
  return text;
}

// Hosts with PAM ask for the password as a dialogue: it is the answer to whatever they do not want echoed.
int answer_prompts(ssh_session session, const char* password) {
  int result = SSH_AUTH_AGAIN;
  while ((result = ssh_userauth_kbdint(session, nullptr, nullptr)) == SSH_AUTH_INFO) {
    const int prompts = ssh_userauth_kbdint_getnprompts(session);
    for (int prompt = 0; prompt < prompts; ++prompt) {
      char echo = 0;
      const auto number = static_cast<unsigned>(prompt);
      (void)ssh_userauth_kbdint_getprompt(session, number, &echo);
      if (ssh_userauth_kbdint_setanswer(session, number, echo != 0 ? "" : password) < 0) return SSH_AUTH_ERROR;
    }
  }
  return result;
}

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)) {
  if (options_.password.empty())
    if (const char* password = std::getenv("HOLDFAST_SSH_PASSWORD"); password != nullptr) options_.password = password;
}

Session::~Session() {
  disconnect();
}

void Session::disconnect() {
  connected_ = false;
  if (session_ == nullptr) return;
  ++generation_;
  ssh_options_set(session_, SSH_OPTIONS_FD, nullptr);  // or libssh would leave the socket open, as one of ours
  ssh_disconnect(session_);
  ssh_free(session_);
  session_ = nullptr;
}

bool Session::connected() const {
  return connected_ && ssh_is_connected(session_) != 0;
}

std::string Session::last_error() const {
  return session_ == nullptr ? "not connected" : one_line(ssh_get_error(session_));
}

Error Session::failure(std::string_view what) const {
  const std::string reason = last_error();
  return Error(fmt::format("{}: {}{}{}", options_.host, what, reason.empty() ? "" : ": ", reason));
}

std::string Session::option(int which) const {
  char* value = nullptr;
  if (ssh_options_get(session_, static_cast<ssh_options_e>(which), &value) != SSH_OK) return {};
  std::string text = value;
  ssh_string_free_char(value);
  return text;
}

void Session::wait_readable(Deadline deadline) const {
  // libssh may hold a whole packet that it has not looked at; the short slice makes that a delay and never a hang.
  const auto left = std::min(std::chrono::ceil<milliseconds>(deadline - steady_clock::now()), milliseconds(200));
  pollfd poller{.fd = ssh_get_fd(session_), .events = POLLIN, .revents = 0};
  if ((ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0) poller.events |= POLLOUT;
  (void)poll(&poller, 1, static_cast<int>(std::max<milliseconds::rep>(left.count(), 0)));
}

void Session::configure() {
  session_ = ssh_new();
  if (session_ == nullptr) throw Error(options_.host + ": libssh gives no session: out of memory");
  ssh_set_blocking(session_, 0);
  const auto microseconds = std::chrono::microseconds(options_.connect_limit).count();
  const long seconds = static_cast<long>(microseconds / 1000000);
  const long rest = static_cast<long>(microseconds % 1000000);
  ssh_options_set(session_, SSH_OPTIONS_TIMEOUT, &seconds);
  ssh_options_set(session_, SSH_OPTIONS_TIMEOUT_USEC, &rest);
  if (ssh_options_set(session_, SSH_OPTIONS_HOST, options_.host.c_str()) != SSH_OK)
    throw UsageError(fmt::format("{}: not a host name or alias", options_.host));
  const bool own_file = !options_.ssh_config.empty();
  // libssh reads a file that is not there as an empty one.
  if (own_file && !std::ifstream(options_.ssh_config).is_open()) {
    throw UsageError(
        fmt::format("--ssh-config {}: cannot be read; give an existing file", options_.ssh_config.string()));
  }
  if (ssh_options_parse_config(session_, own_file ? options_.ssh_config.c_str() : nullptr) != SSH_OK) {
    throw UsageError(fmt::format("{}: the ssh config {} is not understood: {}", options_.host,
                                 own_file ? options_.ssh_config.string() : "~/.ssh/config", last_error()));
  }
}

void Session::exchange_keys(Deadline deadline) {
  if (option(SSH_OPTIONS_PROXYCOMMAND).empty()) {
    unsigned port = 22;
    ssh_options_get_port(session_, &port);
    TcpConnection connection;
    try {
      connection = connect_tcp(option(SSH_OPTIONS_HOST), port, deadline);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", options_.host, error.what()));
    }
    address_ = connection.address;
    ssh_options_set(session_, SSH_OPTIONS_FD, &connection.descriptor);
  }
  int result = SSH_AGAIN;
  while ((result = ssh_connect(session_)) == SSH_AGAIN) {
    if (steady_clock::now() >= deadline) {
      throw Error(
          fmt::format("{}: no SSH answer within {} ms (it accepted the connection and then fell silent); check "
                      "that the port is sshd's and that the host is not overloaded",
                      options_.host, options_.connect_limit.count()));
    }
    wait_readable(deadline);
  }
  if (result != SSH_OK) throw failure("the SSH handshake failed");
}

void Session::check_host_key() {
  const ssh_known_hosts_e known = ssh_session_is_known_server(session_);
  if (known == SSH_KNOWN_HOSTS_OK) {
    // "StrictHostKeyChecking no" turns every answer into OK. The real one is asked for, since a password must not go
    // to a host whose key has changed.
    const int strict = 1;
    ssh_options_set(session_, SSH_OPTIONS_STRICTHOSTKEYCHECK, &strict);
    key_is_doubtful_ = ssh_session_is_known_server(session_) == SSH_KNOWN_HOSTS_CHANGED;
    return;
  }
  unsigned port = 22;
  ssh_options_get_port(session_, &port);
  const std::string name = option(SSH_OPTIONS_HOST);
  const std::string file = option(SSH_OPTIONS_KNOWNHOSTS);
  const std::string key = fingerprint(session_);
  const std::string entry = port == 22 ? name : fmt::format("[{}]:{}", name, port);
  const std::string accept = fmt::format(
      "compare this fingerprint with the host's own (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub there), "
      "then accept it with: ssh-keyscan -p {} {} >> {}",
      port, quote(name), quote(file));
  switch (known) {
    case SSH_KNOWN_HOSTS_CHANGED:
      throw RefusedError(
          fmt::format("{}: HOST KEY CHANGED: the host offers {}, but {} has another key for it; SOMEBODY MAY BE "
                      "LISTENING IN. Only if "
                      "you know why it changed: ssh-keygen -R {} -f {}, {}",
                      options_.host, key, file, quote(entry), quote(file), accept));
    case SSH_KNOWN_HOSTS_OTHER:
      throw RefusedError(fmt::format(
          "{}: HOST KEY OF ANOTHER TYPE: the host offers {}, but {} has only keys of other types for it; {}",
          options_.host, key, file, accept));
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND:
      throw RefusedError(fmt::format("{}: unknown host key {}, not in {}; {}", options_.host, key, file, accept));
    default:
      throw RefusedError(failure("the host key could not be checked").what());
  }
}

void Session::log_in(Deadline deadline) {
  std::vector<std::string> tried;
  const auto attempt = [&](auto&& call) {
    int result = SSH_AUTH_AGAIN;
    while ((result = call()) == SSH_AUTH_AGAIN) {
      if (steady_clock::now() >= deadline) {
        throw Error(
            fmt::format("{}: the login did not end within {} ms", options_.host, options_.connect_limit.count()));
      }
      wait_readable(deadline);
    }
    if (ssh_is_connected(session_) == 0)
      throw failure(fmt::format("the host hung up during the login (tried: {})", fmt::join(tried, ", ")));
    return result == SSH_AUTH_SUCCESS;
  };
  if (attempt([&] { return ssh_userauth_none(session_, nullptr); })) return;
  const auto offered = static_cast<unsigned>(ssh_userauth_list(session_, nullptr));
  if ((offered & SSH_AUTH_METHOD_PUBLICKEY) != 0) {
    tried.emplace_back(std::getenv("SSH_AUTH_SOCK") != nullptr ? "agent"
                                                               : "agent (IdentityAgent, if the ssh config has one)");
    const bool in = attempt([&] {
      const int result = ssh_userauth_publickey_auto(session_, nullptr, nullptr);
      char* file = nullptr;  // libssh does not list the key files, but says which one it is at
      if (ssh_userauth_publickey_auto_get_current_identity(session_, &file) == SSH_OK) {
        if (const std::string name = fmt::format("key file {}", file); tried.back() != name) tried.push_back(name);
        ssh_string_free_char(file);
      }
      return result;
    });
    if (in) return;
  }
  if ((offered & (SSH_AUTH_METHOD_PASSWORD | SSH_AUTH_METHOD_INTERACTIVE)) != 0) {
    if (options_.password.empty()) {
      tried.emplace_back("no password (HOLDFAST_SSH_PASSWORD is not set)");
    } else if (key_is_doubtful_) {
      tried.emplace_back("no password (the host key has changed)");
    } else {
      const char* const password = options_.password.c_str();
      tried.emplace_back("password");
      if ((offered & SSH_AUTH_METHOD_PASSWORD) != 0 &&
          attempt([&] { return ssh_userauth_password(session_, nullptr, password); }))
        return;
      if ((offered & SSH_AUTH_METHOD_INTERACTIVE) != 0 && attempt([&] { return answer_prompts(session_, password); }))
        return;
    }
  }
  throw RefusedError(
      fmt::format("{}: login as {} refused; tried: {}; the host takes: {}{}{}; add your public key to its "
                  "~/.ssh/authorized_keys, or "
                  "name the key with IdentityFile in the ssh config",
                  options_.host, option(SSH_OPTIONS_USER), fmt::join(tried, ", "),
                  (offered & SSH_AUTH_METHOD_PUBLICKEY) != 0 ? "publickey " : "",
                  (offered & SSH_AUTH_METHOD_PASSWORD) != 0 ? "password " : "",
                  (offered & SSH_AUTH_METHOD_INTERACTIVE) != 0 ? "keyboard-interactive" : ""));
}

void Session::connect() {
  disconnect();
  const Deadline deadline = steady_clock::now() + options_.connect_limit;
  try {
    configure();
    exchange_keys(deadline);
    check_host_key();
    log_in(deadline);
    connected_ = true;
  } catch (...) {
    disconnect();
    throw;
  }
}

void Session::connect_patiently(Deadline deadline) {
  for (milliseconds pause{50};; pause = std::min(pause * 2, milliseconds(2000))) {
    try {
      return connect();
    } catch (const RefusedError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const Error&) {
      if (steady_clock::now() + pause >= deadline) throw;
    }
    std::this_thread::sleep_for(pause);
  }
}

void Session::kill_group(std::int64_t group) {
  const Deadline deadline = steady_clock::now() + options_.connect_limit;
  Channel channel(*this, fmt::format("kill -s KILL -- -{} 2>/dev/null", group), deadline);
  std::string ignored;
  while (!channel.ended() && steady_clock::now() < deadline) {
    if (channel.read(ignored, 4096) == 0) wait_readable(deadline);
  }
}

CommandResult Session::run(const std::string& script, milliseconds limit) {
  constexpr std::size_t kChunk = 1U << 16U;
  CommandResult result;
  Channel channel(*this, "exec </dev/null; " + script, steady_clock::now() + options_.connect_limit);
  const Deadline deadline = steady_clock::now() + limit;
  while (!channel.ended()) {
    const std::size_t got = channel.read(result.output, kChunk) + channel.read_errors(result.errors, kChunk);
    if (got > 0) continue;
    if (channel.ended()) break;
    if (steady_clock::now() >= deadline) {
      result.timed_out = true;
      break;
    }
    wait_readable(deadline);
  }
  if (result.timed_out) {
    result.exit_status = 128 + SIGKILL;
    kill_group(channel.group());
    return result;
  }
  const std::optional<ExitStatus> status = channel.exit_status();
  if (!status) throw failure("the connection broke while a command ran");
  result.exit_status = status->signal != 0 ? 128 + status->signal : status->code;
  return result;
}

}  // namespace holdfast
