#include "clusters/local/clock/node_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#include "clusters/local/process.h"
#include "harness/error.h"

namespace holdfast {

namespace {

using clock_page::Page;
using clock_page::Reading;
using clock_page::Shift;
using clock_page::Slot;
using std::chrono::nanoseconds;

std::int64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::duration_cast<nanoseconds>(std::chrono::seconds(time.tv_sec)).count() + time.tv_nsec;
}

// What the clock has gained so far stays; from now on it gains by the new rate.
void turn(Shift& shift, std::int64_t time, double rate) {
  shift.shift = clock_page::ahead_at(time, shift.anchor, shift.shift, shift.rate);
  shift.anchor = time;
  shift.rate = std::llround(std::ldexp(rate, clock_page::kRateBits));
}

ClockReading read(const Reading& reading, std::uint32_t sequence) {
  ClockReading result;
  result.current = reading.sequence.load(std::memory_order_acquire) == sequence;
  result.changes = reading.changes;
  result.at = nanoseconds(reading.at);
  result.ahead = nanoseconds(reading.ahead);
  return result;
}

void keep_latest(ClockReading& kept, const ClockReading& other) {
  if (other.at > kept.at) kept = other;
}

}  // namespace

void make_clock_page() {
  const int file = ::open(clock_page::kFile, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw system_error(fmt::format("make {}", clock_page::kFile));
  // Servers that run as a user of their own note what they have seen, too, whatever the mask of new files.
  const bool made = ::fchmod(file, 0666) == 0 && ::ftruncate(file, sizeof(Page)) == 0;
  ::close(file);
  if (!made) throw system_error(fmt::format("make {}", clock_page::kFile));
}

LocalClock::LocalClock(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw system_error(fmt::format("open {}", file));
  void* const mapped = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (mapped == MAP_FAILED) throw system_error(fmt::format("map {}", file));
  page_ = static_cast<Page*>(mapped);
}

LocalClock::~LocalClock() {
  ::munmap(page_, sizeof(Page));
}

void LocalClock::write(const std::function<void()>& change) {
  const std::lock_guard lock(mutex_);
  page_->sequence.fetch_add(1);
  change();
  page_->sequence.fetch_add(1);
}

void LocalClock::jump(nanoseconds by) {
  write([&] { page_->wall.shift += by.count(); });
}

void LocalClock::drift(double wall, double monotonic) {
  HOLDFAST_CHECK(wall > -1 && monotonic > -1, "a clock that runs backwards");
  write([&] {
    turn(page_->wall, now(CLOCK_REALTIME), wall);
    turn(page_->monotonic, now(CLOCK_MONOTONIC), monotonic);
  });
}

void LocalClock::heal() {
  write([&] {
    turn(page_->wall, now(CLOCK_REALTIME), 0);
    page_->wall.shift = 0;
    turn(page_->monotonic, now(CLOCK_MONOTONIC), 0);
  });
}

std::optional<ClockReadings> LocalClock::told(const NodeProcess& process) {
  const auto group = static_cast<std::uint32_t>(dynamic_cast<const LocalProcess&>(process).pid());
  const std::uint32_t sequence = page_->sequence;
  std::optional<ClockReadings> result;
  for (const Slot& slot : page_->slots) {
    if (slot.group != group) continue;
    if (!result) result.emplace();
    keep_latest(result->wall, read(slot.wall, sequence));
    keep_latest(result->monotonic, read(slot.monotonic, sequence));
  }
  return result;
}

}  // namespace holdfast
