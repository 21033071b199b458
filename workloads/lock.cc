#include "workloads/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "checkers/registry.h"
#include "harness/error.h"

namespace holdfast {

namespace {

Time later(Time start, Time length) {
  return length > Time::max() - start ? Time::max() : start + length;
}

// What all processes of a run share, in both phases. Hold ids come from one counter, so they are unique in the run.
struct Run {
  explicit Run(const WorkloadOptions& given) : options(given), leases(given.system == nullptr || given.system->leases) {
    for (std::size_t i = 1; i <= std::max<std::size_t>(1, given.locks); ++i) locks.push_back(fmt::format("L{}", i));
  }

  WorkloadOptions options;
  bool leases;
  std::vector<std::string> locks;
  std::int64_t last_hold = 0;
};

// One process: from its first attempt to the end of the phase, or until an unknown outcome retires it. Which lock it
// tries next, and when, is for the phase to decide.
class LockUser : public Generator {
 public:
  LockUser(std::shared_ptr<Run> run, Time hold_time, Rng rng)
      : run_(std::move(run)), hold_time_(hold_time), rng_(rng) {}

  Next next(const Moment& moment) final {
    switch (step_) {
      case Step::outside:
        return approach(moment.now);
      case Step::read:
        return ask("read", access());
      case Step::inside:
        if (moment.now < write_at_) return Next::wait_until(write_at_);
        step_ = Step::write;
        [[fallthrough]];
      case Step::write: {
        Value value = access();
        value["was"] = was_;
        value["now"] = hold_;  // each hold writes at most once, so its number is a value that nobody else writes
        return ask("write", std::move(value));
      }
      case Step::release:
        return ask("release", {{"hold", hold_}});
    }
    HOLDFAST_CHECK(false, "every step is one of the above");
  }

  void observe(const Moment& moment, const Event& event) final {
    if (event.type == EventType::invoke) {
      open_ = true;
    } else if (is_note(event.f)) {
      if (event.f == "lost" && event.value.is_object() && event.value.value("hold", Value()) == hold_) lose(moment.now);
    } else {
      open_ = false;
      complete(moment.now, event);
    }
  }

 protected:
  virtual Next approach(Time now) = 0;  // wants a lock: acquire(), wait, or done
  virtual void refused(Time now) = 0;   // the attempt failed
  virtual void left(Time now) = 0;      // had it, and is through with it

  Next acquire(const std::string& lock) {
    key_ = lock;
    hold_ = ++run_->last_hold;
    token_ = nullptr;
    was_ = nullptr;
    lost_ = false;
    Value value = {{"hold", hold_}};
    if (run_->leases) {
      value["lease_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(run_->options.lease).count();
    }
    return ask("acquire", std::move(value));
  }

  // Clients that poll in step would meet in the same order again and again.
  Time pause() {
    const Time poll = std::max(Time{}, run_->options.poll);
    return poll - poll / 4 +
           Time(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(poll.count()) / 2 + 1)));
  }

  [[nodiscard]] const Run& run() const { return *run_; }
  Rng& rng() { return rng_; }

 private:
  enum class Step : std::uint8_t { outside, read, inside, write, release };

  [[nodiscard]] Next ask(const char* f, Value value) const {
    return Next::invoke({.f = f, .key = key_, .value = std::move(value)});
  }

  [[nodiscard]] Value access() const {
    Value value = {{"hold", hold_}};
    if (!token_.is_null()) value["token"] = token_;
    return value;
  }

  void complete(Time now, const Event& event) {
    const bool ok = event.type == EventType::ok;
    if (event.f == "acquire" && !ok) {
      refused(now);
    } else if (lost_ || event.f == "release") {
      leave(now);
    } else if (event.f == "acquire") {
      if (event.value.is_object()) token_ = event.value.value("token", Value());
      step_ = Step::read;
    } else if (event.f == "read" && ok) {
      if (event.value.is_object()) was_ = event.value.value("value", Value());
      write_at_ = later(now, hold_time_);
      step_ = Step::inside;
    } else {
      // The resource took the write, or it refused us: either way the lock may still be ours, and others wait for it.
      step_ = Step::release;
    }
  }

  // The library says that the lock is gone. A careful user stops at once: the resource is somebody else's now, and so
  // is the lock. Releasing it would be asking the service to free what another client holds. An operation that is
  // already under way cannot be called back; it is awaited.
  void lose(Time now) {
    if (open_) {
      lost_ = true;
    } else if (step_ != Step::outside) {
      leave(now);
    }
  }

  void leave(Time now) {
    step_ = Step::outside;
    left(now);
  }

  std::shared_ptr<Run> run_;
  Time hold_time_;
  Rng rng_;
  Step step_ = Step::outside;
  bool open_ = false;  // an operation of ours is under way
  bool lost_ = false;  // the current hold was lost while an operation was under way
  std::string key_;
  std::int64_t hold_ = 0;
  Value token_;
  Value was_;
  Time write_at_{};
};

// The main phase: rounds until the time is over.
class Contender final : public LockUser {
 public:
  Contender(const std::shared_ptr<Run>& run, Time end, Rng rng) : LockUser(run, run->options.hold, rng), end_(end) {}

 protected:
  Next approach(Time now) override {
    if (now >= end_) return Next::done();
    if (now < wake_) return Next::wait_until(std::min(wake_, end_));
    if (!round_end_) {
      round_end_ = later(now, run().options.wait);
      lock_ = rng().below(run().locks.size());
    }
    return acquire(run().locks[lock_]);
  }

  void refused(Time now) override {
    wake_ = later(now, pause());
    if (round_end_ && wake_ >= *round_end_) round_end_.reset();
  }

  // Whoever asked again at once would nearly always be faster than those who poll, and keep the lock to itself.
  void left(Time now) override {
    wake_ = later(now, pause());
    round_end_.reset();
  }

 private:
  Time end_;
  Time wake_{};
  std::optional<Time> round_end_;
  std::size_t lock_ = 0;
};

// The final phase: each lock once. A refused one goes to the end of the line, so that one dead lock does not hide
// whether the others can still be had.
class Claimant final : public LockUser {
 public:
  Claimant(const std::shared_ptr<Run>& shared, Time end, std::size_t first, Rng rng)
      : LockUser(shared, Time{}, rng), end_(end) {
    const std::size_t count = shared->locks.size();
    for (std::size_t i = 0; i < count; ++i) line_.push_back((first + i) % count);
  }

 protected:
  Next approach(Time now) override {
    if (line_.empty() || now >= end_) return Next::done();
    if (now < wake_) return Next::wait_until(std::min(wake_, end_));
    return acquire(run().locks[line_.front()]);
  }

  void refused(Time now) override {
    wake_ = later(now, pause());
    line_.push_back(line_.front());
    line_.pop_front();
  }

  void left(Time now) override {
    wake_ = now;
    line_.pop_front();
  }

 private:
  Time end_;
  Time wake_{};
  std::deque<std::size_t> line_;
};

// The stream of random numbers depends on the process alone, not on when it came into being.
Rng stream(const Run& run, const char* phase, const Moment& moment) {
  return Rng(run.options.seed).split(phase, static_cast<std::uint64_t>(number(moment.process)));
}

}  // namespace

Workload lock_workload(const WorkloadOptions& options) {
  const auto run = std::make_shared<Run>(options);
  Workload workload;
  workload.generator = each_process([run, end = std::optional<Time>()](const Moment& moment) mutable {
    if (!end) end = later(moment.now, run->options.time_limit);
    return std::make_unique<Contender>(run, *end, stream(*run, "lock", moment));
  });
  // A lease that was taken just before the end may have to run out, and be taken and run out once more.
  const Time final_limit = run->leases ? 2 * options.lease + std::chrono::seconds(2) : std::chrono::seconds(3);
  workload.final_limit = final_limit;
  workload.final_generator =
      each_process([run, final_limit, end = std::optional<Time>()](const Moment& moment) mutable {
        if (!end) end = later(moment.now, final_limit);
        return std::make_unique<Claimant>(run, *end, moment.lane, stream(*run, "final", moment));
      });
  workload.needs_resource = true;
  workload.checkers = lock_checkers({.faults = options.faults});
  return workload;
}

}  // namespace holdfast
