// Runs on a node and says what its clocks look like from there, beside the true ones, which it asks the kernel for by
// system call.
//   now                  how far wall and monotonic clock are ahead, and the true time, in nanoseconds
//   wait KIND MS         waits until MS from now by the node's clock; says how long that truly took, in milliseconds
//   watch MS             how often each clock was read, and how often it went back, in MS of true time
//   cost                 nanoseconds per clock_gettime
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <thread>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}

std::int64_t node_now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return nanoseconds(time);
}

std::int64_t true_now(clockid_t clock) {
  timespec time{};
  ::syscall(SYS_clock_gettime, clock, &time);
  return nanoseconds(time);
}

timespec after(clockid_t clock, std::int64_t milliseconds) {
  const std::int64_t at = node_now(clock) + milliseconds * kMillisecond;
  return {at / kSecond, at % kSecond};
}

int wait_for_condition(clockid_t clock, const timespec& deadline) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, clock);
  pthread_cond_t condition;
  pthread_cond_init(&condition, &attributes);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  int result = 0;
  while (result == 0) result = pthread_cond_timedwait(&condition, &mutex, &deadline);
  pthread_mutex_unlock(&mutex);
  return result;
}

int wait_for_semaphore(clockid_t clock, const timespec& deadline) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  return sem_clockwait(&semaphore, clock, &deadline) == 0 ? 0 : errno;
}

int wait_for_mutex(clockid_t clock, const timespec& deadline) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  int result = 0;
  std::thread([&] { result = pthread_mutex_clocklock(&mutex, clock, &deadline); }).join();
  return result;
}

int wait_for_writer(clockid_t clock, const timespec& deadline) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  int result = 0;
  std::thread([&] { result = pthread_rwlock_clockrdlock(&lock, clock, &deadline); }).join();
  return result;
}

int sleep_until(clockid_t clock, const timespec& deadline) {
  const int result = clock_nanosleep(clock, TIMER_ABSTIME, &deadline, nullptr);
  return result == 0 ? ETIMEDOUT : result;
}

int wait_for_timer(clockid_t clock, const timespec& deadline) {
  const int timer = ::timerfd_create(clock, TFD_CLOEXEC);
  const itimerspec once{{}, deadline};
  if (::timerfd_settime(timer, TFD_TIMER_ABSTIME, &once, nullptr) != 0) return errno;
  std::uint64_t times = 0;
  return ::read(timer, &times, sizeof times) == sizeof times ? ETIMEDOUT : errno;
}

int wait(const std::string& kind, std::int64_t milliseconds) {
  using Wait = int (*)(clockid_t, const timespec&);
  const std::map<std::string, Wait> waits = {{"condition", wait_for_condition},
                                             {"semaphore", wait_for_semaphore},
                                             {"mutex", wait_for_mutex},
                                             {"read-write", wait_for_writer},
                                             {"sleep", sleep_until},
                                             {"timer", wait_for_timer}};
  const bool monotonic = kind.ends_with("-monotonic");
  const clockid_t clock = monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  const Wait function = waits.at(monotonic ? kind.substr(0, kind.size() - std::string("-monotonic").size()) : kind);
  const std::int64_t start = true_now(CLOCK_MONOTONIC);
  const timespec deadline = after(clock, milliseconds);
  std::puts("waiting");
  std::fflush(stdout);
  const int result = function(clock, deadline);
  std::printf("%.1f\n", static_cast<double>(true_now(CLOCK_MONOTONIC) - start) / kMillisecond);
  return result == ETIMEDOUT ? 0 : 1;
}

int watch(std::int64_t milliseconds) {
  std::array<std::int64_t, 2> last{};
  std::array<long, 2> back{};
  long reads = 0;
  for (const std::int64_t end = true_now(CLOCK_MONOTONIC) + milliseconds * kMillisecond;
       true_now(CLOCK_MONOTONIC) < end; ++reads) {
    for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
      const std::int64_t now = node_now(clock);
      back.at(static_cast<std::size_t>(clock)) += now < last.at(static_cast<std::size_t>(clock)) ? 1 : 0;
      last.at(static_cast<std::size_t>(clock)) = now;
    }
  }
  std::printf("%ld %ld %ld\n", reads, back[CLOCK_REALTIME], back[CLOCK_MONOTONIC]);
  return 0;
}

// The best of many short rounds: what the call costs when nothing else wants the processor.
int cost() {
  constexpr int kCalls = 2000;
  std::int64_t best = kSecond;
  timespec time{};
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t start = true_now(CLOCK_MONOTONIC);
    for (int i = 0; i < kCalls; ++i) ::clock_gettime(CLOCK_REALTIME, &time);
    best = std::min(best, true_now(CLOCK_MONOTONIC) - start);
  }
  std::printf("%.2f\n", static_cast<double>(best) / kCalls);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string verb = count > 1 ? words[1] : "";
  if (verb == "now") {
    const std::int64_t at = true_now(CLOCK_REALTIME);
    const std::int64_t wall = node_now(CLOCK_REALTIME) - at;
    const std::int64_t monotonic = node_now(CLOCK_MONOTONIC) - true_now(CLOCK_MONOTONIC);
    std::printf("%lld %lld %lld\n", static_cast<long long>(wall), static_cast<long long>(monotonic),
                static_cast<long long>(at));
    return 0;
  }
  if (verb == "wait" && count > 3) return wait(words[2], std::atoll(words[3]));
  if (verb == "watch" && count > 2) return watch(std::atoll(words[2]));
  if (verb == "cost") return cost();
  std::fputs("holdfast-clock-probe now | wait KIND MS | watch MS | cost\n", stderr);
  return 254;
}
