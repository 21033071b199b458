#include "harness/exchange.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "harness/error.h"

namespace holdfast {

Exchange::Exchange(std::size_t lanes) : wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), seats_(lanes) {
  if (wakeup_ < 0) throw system_error("eventfd");
}

Exchange::~Exchange() {
  ::close(wakeup_);
}

void Exchange::release(std::size_t lane) {
  {
    const std::lock_guard lock(mutex_);
    news_.released.push_back(lane);
  }
  wake();
}

void Exchange::started(Started news) {
  {
    const std::lock_guard lock(mutex_);
    news_.started.push_back(std::move(news));
  }
  wake();
}

void Exchange::set_paused(std::size_t lane, bool paused) {
  {
    const std::lock_guard lock(mutex_);
    news_.pauses.emplace_back(lane, paused);
  }
  wake();
}

void Exchange::wake() const {
  const std::uint64_t one = 1;
  // A full counter is as good as a written one: the loop wakes up either way.
  static_cast<void>(::write(wakeup_, &one, sizeof one));
}

Exchange::Seat Exchange::seat(std::size_t lane) {
  const std::lock_guard lock(mutex_);
  return seats_.at(lane);
}

bool Exchange::wait_for_new_client(std::size_t lane, Process old, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return seats_.at(lane).process != old && seats_.at(lane).open; });
}

Exchange::News Exchange::take() {
  std::uint64_t count = 0;
  static_cast<void>(::read(wakeup_, &count, sizeof count));
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void Exchange::publish(std::size_t lane, Seat seat) {
  {
    const std::lock_guard lock(mutex_);
    seats_.at(lane) = std::move(seat);
  }
  changed_.notify_all();
}

}  // namespace holdfast
