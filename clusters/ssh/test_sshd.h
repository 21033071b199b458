// TestSshd: a real sshd for the tests, on a loopback port of its own, with keys, known hosts and config of its own.
//
// Nothing of the machine's own SSH set-up is used or changed. Gone, with all it started, when the object is.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "clusters/ssh/session.h"

namespace holdfast {

// A temporary folder, removed at the end.
class TestFolder {
 public:
  TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

pid_t start_program(const std::vector<std::string>& argv, const std::string& log);
int run_program(const std::vector<std::string>& argv);
void stop_program(pid_t pid);
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(10));
int free_port();

class TestSshd {
 public:
  // `prefix` is put before sshd's argv, for example to enter a network namespace; `config` before its own config.
  explicit TestSshd(const TestFolder& folder, std::string address = "127.0.0.1", int port = 0,
                    const std::vector<std::string>& prefix = {}, const std::string& config = "");
  TestSshd(const TestSshd&) = delete;
  TestSshd& operator=(const TestSshd&) = delete;
  ~TestSshd();

  // Why there can be no sshd here; empty: there can.
  static std::string missing();

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void wait_until_it_listens() const;

  // "Host alias" with this server's address, port, known hosts and the given key file.
  [[nodiscard]] std::string config_entry(const std::string& alias, const std::string& identity = "user_key") const;
  // Writes a config with that one entry and more lines to it; returns the options of a session that uses it.
  [[nodiscard]] SessionOptions options(const std::string& alias = "node", const std::string& identity = "user_key",
                                       const std::string& more = "") const;
  void trust(const std::string& public_key_file) const;  // overwrites the known hosts
  [[nodiscard]] std::string host_key() const { return folder_.file(tag_ + "host_key"); }
  [[nodiscard]] std::string known_hosts() const { return folder_.file(tag_ + "known_hosts"); }

 private:
  const TestFolder& folder_;
  std::string address_;
  int port_;
  std::string tag_;
  pid_t pid_ = -1;
};

}  // namespace holdfast
