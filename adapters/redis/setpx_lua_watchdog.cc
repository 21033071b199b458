// Like setpx-lua, and a thread renews the lease every third of it, for as long as the client holds the lock. It has a
// connection of its own, so that a slow renewal does not delay the release.
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kCompareAndExpire =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

class SetpxLuaWatchdog : public RedisLock {
 public:
  SetpxLuaWatchdog() : RedisLock("setpx-lua-watchdog") {}

  Answer open(const OpenValue& value) override {
    watchdog_ = {};  // ends the thread of an earlier open, and waits for it
    held_.clear();
    renewals_.configure(value.servers.empty() ? "" : value.servers.front(), value.timeout);
    Answer answer = RedisLock::open(value);
    if (answer.type == Answer::Type::ok) watchdog_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    return answer;
  }

 protected:
  Answer acquire(const Hold& hold) override {
    Answer answer = set_nx_px(hold);
    if (answer.type == Answer::Type::ok) {
      const auto interval = std::chrono::milliseconds(std::stoll(hold.lease_ms)) / 3;
      const std::scoped_lock lock(mutex_);
      held_[hold.key] = {.hold = hold.id,
                         .value = hold.value,
                         .lease_ms = hold.lease_ms,
                         .interval = interval,
                         .due = Clock::now() + interval};
      wake_.notify_one();
    }
    return answer;
  }

  Answer release(const Hold& hold) override {
    {
      // From here on the client does not believe that it holds the lock. A renewal that is under way may still reach
      // the server, where it finds another value or none, but nothing is said of it.
      const std::scoped_lock lock(mutex_);
      const auto found = held_.find(hold.key);
      if (found != held_.end() && found->second.hold == hold.id) held_.erase(found);
    }
    return compare_and_delete(hold);
  }

 private:
  struct Lease {
    std::uint64_t hold = 0;
    std::string value;
    std::string lease_ms;
    Clock::duration interval{};
    Clock::time_point due;
  };

  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto next = std::min_element(held_.begin(), held_.end(), [](const auto& one, const auto& other) {
        return one.second.due < other.second.due;
      });
      if (next == held_.end()) {
        wake_.wait(lock, stop, [this] { return !held_.empty(); });
      } else if (const auto due = next->second.due; Clock::now() < due) {
        wake_.wait_until(lock, stop, due, [this, due] { return earliest() < due; });
      } else {
        renew(lock, *next);
      }
    }
  }

  Clock::time_point earliest() const {
    auto due = Clock::time_point::max();
    for (const auto& [key, lease] : held_) due = std::min(due, lease.due);
    return due;
  }

  void renew(std::unique_lock<std::mutex>& lock, const std::pair<const std::string, Lease>& entry) {
    // Copies, because the entry may go away while the mutex is free for the server call.
    const auto [key, lease] = entry;
    note("renewing", key, note_value(lease.hold));
    lock.unlock();
    const Result result = renewals_.command({"EVAL", kCompareAndExpire, "1", key, lease.value, lease.lease_ms});
    lock.lock();
    const auto found = held_.find(key);
    if (found == held_.end() || found->second.hold != lease.hold) return;  // released meanwhile
    found->second.due = Clock::now() + lease.interval;
    if (!result.done()) {
      // Perhaps the next attempt gets through before the lease is over; a client that cannot tell does not give up.
      std::fprintf(stderr, "renewal of %s failed: %s\n", key.c_str(), result.error.c_str());
    } else if (result.integer == 1) {
      note("renewed", key, note_value(lease.hold));
    } else {
      held_.erase(found);
      note("lost", key, note_value(lease.hold));
    }
  }

  Connection renewals_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<std::string, Lease> held_;  // by key
  std::jthread watchdog_;              // last, so that it ends first
};

}  // namespace

std::unique_ptr<Adapter> make_setpx_lua_watchdog() {
  return std::make_unique<SetpxLuaWatchdog>();
}

}  // namespace holdfast
