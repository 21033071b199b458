#include "clusters/local/clock/shim.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "clusters/local/clock/page.h"
#include "clusters/local/clock/vdso.h"

namespace holdfast::clock_shim {

namespace {

using clock_page::Page;
using clock_page::Reading;
using clock_page::Shift;
using clock_page::Slot;

constexpr std::int64_t kRefresh = 5'000'000;
constexpr int kSpins = 200;

// Which slot is ours. On a page that the kernel empties in a forked child, which thereby looks for its own.
struct Identity {
  Slot* slot;
  std::uint32_t process;
};

constinit std::atomic<ClockGetTime> kernel_clock{nullptr};
constinit std::atomic<Page*> page{nullptr};
constinit std::atomic<Identity*> identity{nullptr};
constinit std::atomic<bool> prepared{false};

int by_system_call(clockid_t clock, timespec* time) {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
}

// System calls by number, because sanitizers stand in the way of the usual functions before they are ready.
template <typename T>
T* map(long file, std::size_t size, int flags) {
  const long address = ::syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, flags, file, 0);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a system call's answer is a number
  return address == -1 ? nullptr : reinterpret_cast<T*>(address);
}

void map_page() {
  const long file = ::syscall(SYS_openat, AT_FDCWD, clock_page::kFile, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  Page* mapped = nullptr;
  if (::syscall(SYS_lseek, file, 0, SEEK_END) >= static_cast<long>(sizeof(Page))) {
    mapped = map<Page>(file, sizeof(Page), MAP_SHARED);
  }
  ::syscall(SYS_close, file);
  auto* const ours = map<Identity>(-1, 4096, MAP_PRIVATE | MAP_ANONYMOUS);
  if (mapped == nullptr || ours == nullptr) return;
  if (::syscall(SYS_madvise, ours, 4096, MADV_WIPEONFORK) != 0) return;
  identity.store(ours, std::memory_order_relaxed);
  page.store(mapped, std::memory_order_release);
}

// At the first call or when the library is loaded, whichever comes first. Who comes second meanwhile sees true time.
__attribute__((constructor)) void prepare() {
  if (prepared.exchange(true)) return;
  const int error = errno;
  const ClockGetTime found = find_clock_gettime();
  kernel_clock.store(found != nullptr ? found : by_system_call, std::memory_order_release);
  map_page();
  errno = error;
}

int true_clock(clockid_t clock, timespec* time) {
  ClockGetTime function = kernel_clock.load(std::memory_order_acquire);
  if (function == nullptr) {
    prepare();
    function = kernel_clock.load(std::memory_order_acquire);
    if (function == nullptr) function = by_system_call;
  }
  const int result = function(clock, time);
  if (result >= -1) return result;
  errno = -result;  // the kernel's own function says what went wrong as the kernel does
  return -1;
}

// Which of the node's two clocks a clock of the kernel belongs to; -1 for those that count processor time.
clockid_t family(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
      return CLOCK_REALTIME;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
      return CLOCK_MONOTONIC;
    default:
      return -1;
  }
}

Slot* own_slot(Page& shared) {
  Identity* const ours = identity.load(std::memory_order_relaxed);
  if (ours->slot == nullptr) {
    ours->process = static_cast<std::uint32_t>(::syscall(SYS_getpid));
    ours->slot = &shared.slots[ours->process % clock_page::kSlots];
  }
  if (ours->slot->process.load(std::memory_order_relaxed) != ours->process) {
    ours->slot->process.store(ours->process, std::memory_order_relaxed);
    ours->slot->wall.sequence.store(~0U, std::memory_order_relaxed);
    ours->slot->monotonic.sequence.store(~0U, std::memory_order_relaxed);
  }
  return ours->slot;
}

void note(Page& shared, clockid_t base, std::uint32_t sequence, std::int64_t time, std::int64_t ahead) {
  Slot* const slot = own_slot(shared);
  Reading& reading = base == CLOCK_REALTIME ? slot->wall : slot->monotonic;
  const std::uint32_t before = reading.sequence.load(std::memory_order_relaxed);
  if (before == sequence && time - reading.at.load(std::memory_order_relaxed) < kRefresh) return;
  reading.at.store(time, std::memory_order_relaxed);
  reading.ahead.store(ahead, std::memory_order_relaxed);
  if (before == sequence) return;
  reading.changes.fetch_add(1, std::memory_order_relaxed);
  slot->group.store(static_cast<std::uint32_t>(::syscall(SYS_getpgid, 0)), std::memory_order_relaxed);
  reading.sequence.store(sequence, std::memory_order_release);
}

struct State {
  std::uint32_t sequence;
  std::int64_t anchor;
  std::int64_t shift;
  std::int64_t rate;
};

// Reads the setting and, in between, whatever `inside` reads: the two belong together. The controller reads the true
// clock while it writes, so nobody can apply an old rate to a time after the change: monotonic stays monotonic.
template <typename Inside>
State consistent(const Page& shared, clockid_t base, Inside inside) {
  const Shift& shift = base == CLOCK_REALTIME ? shared.wall : shared.monotonic;
  for (int tries = 1;; ++tries) {
    State state{};
    state.sequence = shared.sequence.load(std::memory_order_acquire);
    if ((state.sequence & 1U) == 0) {
      state.anchor = shift.anchor.load(std::memory_order_relaxed);
      state.shift = shift.shift.load(std::memory_order_relaxed);
      state.rate = shift.rate.load(std::memory_order_relaxed);
      inside(state);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (shared.sequence.load(std::memory_order_relaxed) == state.sequence) return state;
    }
    if (tries % kSpins == 0) ::syscall(SYS_sched_yield);  // the writer may be waiting for this very core
  }
}

int node_clock(clockid_t clock, timespec* time) {
  Page* const shared = page.load(std::memory_order_acquire);
  const clockid_t base = family(clock);
  if (shared == nullptr || base < 0) return true_clock(clock, time);
  int result = 0;
  timespec base_time{};
  const State state = consistent(*shared, base, [&](const State& now) {
    result = true_clock(clock, time);
    base_time = *time;
    if (clock != base && now.rate != 0) true_clock(base, &base_time);
  });
  if (result != 0) return result;
  const std::int64_t at = nanoseconds(base_time);
  const std::int64_t ahead =
      state.rate == 0 ? state.shift : clock_page::ahead_at(at, state.anchor, state.shift, state.rate);
  if (ahead != 0) *time = to_timespec(nanoseconds(*time) + ahead);
  note(*shared, base, state.sequence, at, ahead);
  return 0;
}

}  // namespace

timespec to_timespec(std::int64_t nanoseconds) {
  std::int64_t seconds = nanoseconds / kSecond;
  std::int64_t rest = nanoseconds % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {seconds, rest};
}

std::int64_t true_now(clockid_t clock) {
  timespec time{};
  true_clock(clock, &time);
  return nanoseconds(time);
}

std::int64_t node_now(clockid_t clock) {
  timespec time{};
  node_clock(clock, &time);
  return nanoseconds(time);
}

bool governed(clockid_t clock) {
  const Page* const shared = page.load(std::memory_order_acquire);
  if (shared == nullptr) return false;
  const clockid_t base = family(clock);
  if (base == CLOCK_REALTIME) return true;
  if (base != CLOCK_MONOTONIC) return false;
  const State state = consistent(*shared, base, [](const State&) {});
  return state.shift != 0 || state.rate != 0;
}

std::int64_t true_time_until(clockid_t clock, const timespec& deadline) {
  const std::int64_t left = nanoseconds(deadline) - node_now(clock);
  const Page* const shared = page.load(std::memory_order_acquire);
  if (shared == nullptr || left <= 0) return left;
  const State state = consistent(*shared, family(clock), [](const State&) {});
  if (state.rate == 0) return left;
  __extension__ using Wide = __int128;
  const Wide speed = (Wide{1} << clock_page::kRateBits) + state.rate;
  return static_cast<std::int64_t>((static_cast<Wide>(left) << clock_page::kRateBits) / speed) + 1;
}

}  // namespace holdfast::clock_shim

// What other libraries and the program call instead of the C library's functions.
#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  return holdfast::clock_shim::node_clock(clock, time);
}

int gettimeofday(timeval* time, void* zone) noexcept {
  if (zone != nullptr) *static_cast<struct timezone*>(zone) = {};
  timespec now{};
  holdfast::clock_shim::node_clock(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* result) noexcept {
  timespec now{};
  holdfast::clock_shim::node_clock(CLOCK_REALTIME_COARSE, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  holdfast::clock_shim::node_clock(CLOCK_REALTIME, time);
  return base;
}

}  // extern "C"
#pragma GCC visibility pop
