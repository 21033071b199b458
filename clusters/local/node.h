// LocalNode: a node made of Linux namespaces on this machine, with its own network, hostname, processes and files.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "clusters/local/clock/node_clock.h"
#include "clusters/local/disk/node_disk.h"
#include "clusters/local/packet.h"
#include "harness/node.h"

namespace holdfast {

struct LocalNodeOptions {
  std::string name;
  std::string address;
  std::string hosts;  // contents of /etc/hosts
  std::string program_folder;
};

class LocalNode final : public Node {
 public:
  // Makes the namespaces; the node is not usable before finish_start(). Call from the main thread: the node dies
  // with the thread that made it.
  explicit LocalNode(LocalNodeOptions options);
  LocalNode(const LocalNode&) = delete;
  LocalNode& operator=(const LocalNode&) = delete;
  ~LocalNode() override;  // ends everything in it

  [[nodiscard]] pid_t init() const { return init_; }  // as this process sees it
  void begin_start();                                 // its cable is plugged in: it may set itself up
  void finish_start();                                // waits for that; throws what went wrong
  void begin_stop();                                  // kills it without waiting

  [[nodiscard]] const std::string& name() const override { return options_.name; }
  [[nodiscard]] const std::string& address() const override { return options_.address; }
  [[nodiscard]] std::string data_folder() const override;
  [[nodiscard]] std::string program_folder() const override;
  CommandResult run(const Command& command, std::chrono::milliseconds limit) override;
  std::unique_ptr<NodeProcess> spawn(const Command& command, const std::string& error_log) override;
  std::unique_ptr<NodeProcess> start_daemon(const Command& command, const std::string& log) override;
  void upload(const std::filesystem::path& ours, const std::string& theirs) override;
  void download(const std::string& theirs, const std::filesystem::path& ours) override;
  [[nodiscard]] NodeClock* clock() override { return clock_.get(); }
  [[nodiscard]] NodeDisk& disk() override {
    if (disk_ == nullptr) disk_ = std::make_unique<LocalDisk>(*this, init_);
    return *disk_;
  }

  // One question to init, its answer; exit notices that arrive meanwhile are kept.
  Packet ask(const nlohmann::json& question, std::span<const int> descriptors = {});
  // The wait status of a process that ended, once init told; waits for it when `wait`.
  std::optional<int> exit_of(pid_t pid, bool wait);

 private:
  Packet receive();
  void note_exit(const Packet& packet);
  struct Started {
    pid_t pid;
    int pidfd;
  };
  Started start(const Command& command, const std::string& log, std::span<const int> descriptors, bool client);
  [[nodiscard]] std::filesystem::path seen_from_here(const std::string& theirs) const;

  LocalNodeOptions options_;
  pid_t init_ = -1;
  int control_ = -1;
  std::unique_ptr<LocalDisk> disk_;    // null when no fault has asked for one
  std::unique_ptr<LocalClock> clock_;  // null when the shim was not built beside our programs
  std::mutex mutex_;                   // control_ and exits_
  std::map<pid_t, int> exits_;
};

}  // namespace holdfast
