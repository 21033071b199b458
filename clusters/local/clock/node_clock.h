// The controller's side of a local node's clocks: it writes the page that the node's processes read.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "clusters/local/clock/page.h"
#include "harness/clock.h"

namespace holdfast {

// On the node, while it is set up: the empty page.
void make_clock_page();

class LocalClock final : public NodeClock {
 public:
  explicit LocalClock(const std::string& file);  // the page, as this process sees it
  LocalClock(const LocalClock&) = delete;
  LocalClock& operator=(const LocalClock&) = delete;
  ~LocalClock() override;

  void jump(std::chrono::nanoseconds by) override;
  void drift(double wall, double monotonic) override;
  void heal() override;
  [[nodiscard]] std::optional<ClockReadings> told(const NodeProcess& process) override;

 private:
  void write(const std::function<void()>& change);

  std::mutex mutex_;  // one writer of the page at a time
  clock_page::Page* page_ = nullptr;
};

}  // namespace holdfast
