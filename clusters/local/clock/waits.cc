// The C library's functions that wait until a time. The deadline is a time of the node's clock, the wait itself is one
// of the true clock. After a clock is set, the kernel wakes those who wait for a time on it; nobody wakes ours, so they
// wait in slices and look at the clock again.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "clusters/local/clock/shim.h"

namespace holdfast::clock_shim {

namespace {

constexpr std::int64_t kSlice = 50'000'000;

// The function that would be called without us.
template <typename Function>
class Original {
 public:
  constexpr explicit Original(const char* name) : name_(name) {}
  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    auto function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      found_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

using Condition = pthread_cond_t;
using Mutex = pthread_mutex_t;
using ReadWrite = pthread_rwlock_t;

constinit Original<int(Condition*, Mutex*, clockid_t, const timespec*)> wait_for_condition{"pthread_cond_clockwait"};
constinit Original<int(Mutex*, clockid_t, const timespec*)> lock_mutex{"pthread_mutex_clocklock"};
constinit Original<int(ReadWrite*, clockid_t, const timespec*)> lock_shared{"pthread_rwlock_clockrdlock"};
constinit Original<int(ReadWrite*, clockid_t, const timespec*)> lock_exclusive{"pthread_rwlock_clockwrlock"};
constinit Original<int(sem_t*, clockid_t, const timespec*)> wait_for_semaphore{"sem_clockwait"};
constinit Original<int(clockid_t, int, const timespec*, timespec*)> sleep_on_clock{"clock_nanosleep"};
constinit Original<int(int, int, const itimerspec*, itimerspec*)> set_timer{"timerfd_settime"};

bool valid(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < kSecond;
}

// Until when to wait on the true monotonic clock before looking at the node's clock again.
timespec end_of_slice(clockid_t clock, const timespec& deadline) {
  const std::int64_t left = true_time_until(clock, deadline);
  const std::int64_t slice = left < kSlice ? left : kSlice;
  return to_timespec(true_now(CLOCK_MONOTONIC) + (slice > 0 ? slice : 0));
}

bool reached(clockid_t clock, const timespec& deadline) {
  return node_now(clock) >= nanoseconds(deadline);
}

// For waits that lose nothing when they are begun anew. `wait` takes a deadline on the true monotonic clock and answers
// ETIMEDOUT when it came to that.
template <typename Wait>
int in_slices(clockid_t clock, const timespec& deadline, Wait wait) {
  while (true) {
    const timespec until = end_of_slice(clock, deadline);
    const int result = wait(until);
    if (result != ETIMEDOUT || reached(clock, deadline)) return result;
  }
}

// A condition can be signalled between two slices, and nobody would know. So a slice that ends before the deadline
// wakes the caller for no reason, which a caller must expect of any condition.
int wait_for(Condition* condition, Mutex* mutex, clockid_t clock, const timespec* deadline) {
  if (!governed(clock) || !valid(*deadline)) return wait_for_condition(condition, mutex, clock, deadline);
  const timespec until = end_of_slice(clock, *deadline);
  const int result = wait_for_condition(condition, mutex, CLOCK_MONOTONIC, &until);
  return result == ETIMEDOUT && !reached(clock, *deadline) ? 0 : result;
}

// The C library keeps the clock of a condition in this bit.
clockid_t clock_of(const Condition& condition) {
  return (condition.__data.__wrefs & 2U) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

template <typename Lock, typename Function>
int lock_until(Lock* lock, clockid_t clock, const timespec* deadline, Function& function) {
  if (!governed(clock) || !valid(*deadline)) return function(lock, clock, deadline);
  return in_slices(clock, *deadline,
                   [&](const timespec& until) { return function(lock, clockid_t{CLOCK_MONOTONIC}, &until); });
}

int wait_for(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  if (!governed(clock) || !valid(*deadline)) return wait_for_semaphore(semaphore, clock, deadline);
  const int result = in_slices(clock, *deadline, [&](const timespec& until) {
    return wait_for_semaphore(semaphore, clockid_t{CLOCK_MONOTONIC}, &until) == 0 ? 0 : errno;
  });
  if (result == 0) return 0;
  errno = result;
  return -1;
}

int sleep_until(clockid_t clock, const timespec* deadline) {
  return in_slices(clock, *deadline, [](const timespec& until) {
    const int result =
        sleep_on_clock(clockid_t{CLOCK_MONOTONIC}, int{TIMER_ABSTIME}, &until, static_cast<timespec*>(nullptr));
    return result == 0 ? ETIMEDOUT : result;  // it slept to the end of its slice
  });
}

// The kernel tells the clock of a timer in a line "clockid: 0" of /proc.
clockid_t clock_of_timer(int timer) {
  std::array<char, 64> name{"/proc/self/fdinfo/"};
  constexpr std::size_t kPrefix = 18;
  *std::to_chars(name.data() + kPrefix, name.data() + name.size() - 1, timer).ptr = '\0';
  const long file = ::syscall(SYS_openat, AT_FDCWD, name.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  std::array<char, 512> text{};
  const long size = ::syscall(SYS_read, file, text.data(), text.size());
  ::syscall(SYS_close, file);
  const std::string_view all(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kLabel = "clockid: ";
  const std::size_t found = all.find(kLabel);
  if (found == std::string_view::npos) return -1;
  clockid_t clock = -1;
  std::from_chars(all.data() + found + kLabel.size(), all.data() + all.size(), clock);
  return clock;
}

// Turned into a time of the true clock when it is set; a jump after that does not move it.
itimerspec on_true_clock(clockid_t clock, const itimerspec& wanted) {
  itimerspec result = wanted;
  const std::int64_t at = true_now(clock) + true_time_until(clock, wanted.it_value);
  result.it_value = to_timespec(at > 0 ? at : 1);
  return result;
}

}  // namespace

}  // namespace holdfast::clock_shim

namespace shim = holdfast::clock_shim;

#pragma GCC visibility push(default)
extern "C" {

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* deadline) {
  return shim::wait_for(condition, mutex, shim::clock_of(*condition), deadline);
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  return shim::wait_for(condition, mutex, clock, deadline);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) noexcept {
  return shim::lock_until(mutex, CLOCK_REALTIME, deadline, shim::lock_mutex);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* deadline) noexcept {
  return shim::lock_until(mutex, clock, deadline, shim::lock_mutex);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* deadline) noexcept {
  return shim::lock_until(lock, CLOCK_REALTIME, deadline, shim::lock_shared);
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* deadline) noexcept {
  return shim::lock_until(lock, clock, deadline, shim::lock_shared);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* deadline) noexcept {
  return shim::lock_until(lock, CLOCK_REALTIME, deadline, shim::lock_exclusive);
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* deadline) noexcept {
  return shim::lock_until(lock, clock, deadline, shim::lock_exclusive);
}

int sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  return shim::wait_for(semaphore, CLOCK_REALTIME, deadline);
}
int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* deadline) {
  return shim::wait_for(semaphore, clock, deadline);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if ((flags & TIMER_ABSTIME) == 0 || !shim::governed(clock) || !shim::valid(*time)) {
    return shim::sleep_on_clock(clock, flags, time, left);
  }
  const int result = shim::sleep_until(clock, time);
  return result == ETIMEDOUT ? 0 : result;
}

int timerfd_settime(int timer, int flags, const itimerspec* wanted, itimerspec* old) noexcept {
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  const bool armed = absolute && (wanted->it_value.tv_sec != 0 || wanted->it_value.tv_nsec != 0);
  const clockid_t clock = armed && shim::valid(wanted->it_value) ? shim::clock_of_timer(timer) : -1;
  if (clock < 0 || !shim::governed(clock)) return shim::set_timer(timer, flags, wanted, old);
  const itimerspec truly = shim::on_true_clock(clock, *wanted);
  return shim::set_timer(timer, flags, &truly, old);
}

}  // extern "C"
#pragma GCC visibility pop
