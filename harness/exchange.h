// What crosses between the runner's loop and other threads: the nemesis asks who runs where and lets lanes go, starters
// bring new client processes. Everything else in the runner belongs to its one thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/event.h"
#include "harness/node.h"

namespace holdfast {

class Exchange {
 public:
  struct Seat {  // who sits on a lane, as others may see it
    std::shared_ptr<NodeProcess> client;
    Process process{};
    bool open = false;  // it answered `open`
  };
  struct Started {
    std::size_t lane = 0;
    std::shared_ptr<NodeProcess> client;  // null: it did not start
    std::string error;
  };
  struct News {
    std::vector<std::size_t> released;
    std::vector<Started> started;
    std::vector<std::pair<std::size_t, bool>> pauses;  // lane, stopped
  };

  explicit Exchange(std::size_t lanes);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // From any thread.
  void release(std::size_t lane);
  void started(Started news);
  void set_paused(std::size_t lane, bool paused);
  void wake() const;
  [[nodiscard]] Seat seat(std::size_t lane);
  bool wait_for_new_client(std::size_t lane, Process old, std::chrono::milliseconds limit);

  // From the loop.
  [[nodiscard]] int descriptor() const { return wakeup_; }  // readable when there is news
  News take();
  void publish(std::size_t lane, Seat seat);

 private:
  int wakeup_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Seat> seats_;
  News news_;
};

}  // namespace holdfast
