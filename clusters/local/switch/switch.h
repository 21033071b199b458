// Switch: the one fabric between local nodes. A thread takes each frame from its sender's TAP device, asks the link's
// model what is to become of it, and hands it to its receiver now, later, twice, changed, or never.
//
// All of its state belongs to that thread. Others hand it a task, which it does between two frames: so a change of any
// number of links is atomic, and in force for every frame that is handled after the call returned.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_set>
#include <vector>

#include "clusters/local/switch/delay_queue.h"
#include "clusters/local/switch/lateness.h"
#include "clusters/local/switch/link.h"
#include "clusters/local/switch/tap.h"

namespace holdfast {

class Switch {
 public:
  struct LinkShape {
    std::size_t from = 0;  // a port
    std::size_t to = 0;
    LinkPolicy policy;
  };

  Switch(std::vector<std::unique_ptr<Tap>> ports, std::uint64_t seed);
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;
  ~Switch();

  // Exactly these links have a policy from now on. Frames on their way over a link that has none any more leave at
  // once, in order; frames on their way over a link that is cut now are dropped when they would have arrived.
  void shape(std::span<const LinkShape> links);
  [[nodiscard]] std::vector<LinkCounts> counts();  // of the link from a to b at [a * ports + b]
  [[nodiscard]] Lateness lateness();
  [[nodiscard]] std::uint64_t overrun();  // frames lost before the switch saw them, for no fault's sake
  [[nodiscard]] std::size_t ports() const { return ports_.size(); }

 private:
  // The policy of link i is policies[of_link[i]]; number 0 is the one that does nothing.
  struct Table {
    std::vector<std::uint16_t> of_link;
    std::vector<LinkPolicy> policies;
  };

  void between_frames(const std::function<void()>& task);
  void work();
  void do_task();
  void wait_for_frames(std::vector<std::size_t>& ready);
  void read_port(std::size_t port);
  void take(std::size_t from, std::span<std::uint8_t> frame);
  void forward(std::size_t from, std::size_t to, std::span<std::uint8_t> frame);
  bool reset_connection(std::size_t from, std::size_t to, FrameBytes frame);
  bool write_frame(std::size_t port, FrameBytes frame);
  void deliver(std::size_t link, FrameBytes frame);
  void deliver_due();
  [[nodiscard]] const LinkPolicy& policy_of(std::size_t link) const { return table_.policies[table_.of_link[link]]; }

  std::vector<std::unique_ptr<Tap>> ports_;
  std::vector<bool> unplugged_;
  std::vector<LinkModel> links_;
  Table table_;
  DelayQueue on_their_way_;
  Lateness lateness_;
  std::unordered_set<std::uint64_t> begun_connections_;  // since resetting began: they are left alone
  std::unordered_set<std::uint64_t> reset_connections_;

  int poll_ = -1;
  int bell_ = -1;
  std::mutex control_;  // one task at a time
  std::atomic<const std::function<void()>*> task_ = nullptr;
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace holdfast
