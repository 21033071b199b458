// SshNode: a host over SSH.
//
// It owns one folder on the host, /tmp/holdfast-<run>.<random>, with the node's data, our client programs, the list of
// process groups that we started and the controller's heartbeat. A warden process on the host ends those groups and
// removes the folder when the heartbeat stops, so a controller that is killed leaves nothing behind.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clusters/ssh/cluster.h"
#include "clusters/ssh/process.h"

namespace holdfast {

class SshNode final : public Node {
 public:
  SshNode(std::string name, const SshOptions& options);  // connects, makes the folder, uploads the programs
  SshNode(const SshNode&) = delete;
  SshNode& operator=(const SshNode&) = delete;
  ~SshNode() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  // The address that the host's name stands for here; behind a ProxyCommand the one that its own sshd was reached at.
  [[nodiscard]] const std::string& address() const override { return address_; }
  [[nodiscard]] std::string data_folder() const override { return place_.folder + "/data"; }
  [[nodiscard]] std::string program_folder() const override { return place_.folder + "/programs"; }

  CommandResult run(const Command& command, std::chrono::milliseconds limit) override;
  std::unique_ptr<NodeProcess> spawn(const Command& command, const std::string& error_log) override;
  std::unique_ptr<NodeProcess> start_daemon(const Command& command, const std::string& log) override;
  void upload(const std::filesystem::path& ours, const std::string& theirs) override;
  void download(const std::string& theirs, const std::filesystem::path& ours) override;

  [[nodiscard]] Control& control() { return *place_.control; }
  // How our own connection looks from the host; partitions must spare it.
  [[nodiscard]] const std::string& controller_address() const { return controller_address_; }
  [[nodiscard]] const std::string& ssh_port() const { return ssh_port_; }

 private:
  class Loan;
  void make_folder(const SshOptions& options);
  void upload_programs(const std::filesystem::path& folder);

  const std::string name_;
  std::string address_;
  std::string controller_address_;
  std::string ssh_port_;
  SshPlace place_;
  std::int64_t warden_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;  // each is used by one thread at a time, and kept for the next
};

SessionOptions session_options(const std::string& host, const SshOptions& options);

// Ends and removes what earlier runs left on one host. Returns one line for each folder or table.
std::vector<std::string> clean_over_ssh(Control& control, SshLeftovers leftovers);

}  // namespace holdfast
