#include "nemesis/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/log.h"
#include "nemesis/registry.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;

// Of the events that could set a plan off, some are let pass, so that different clients and moments are hit.
constexpr double kStrikeChance = 0.6;
// After another client was granted the paused holder's lock, the pause goes on for this long: the new holder is then
// in the middle of its work.
constexpr Time kOverlap = milliseconds(15);

struct Strike {
  enum class State : std::uint8_t { waiting, set_off, active };

  FaultPlan plan;
  std::unique_ptr<Fault> fault;
  Rng rng{0};
  State state = State::waiting;
  Time ready{};  // waiting: not before this
  Time ends{};   // active: heal then
  std::optional<std::size_t> lane;
  std::string key;
  std::uint64_t id = 0;
  std::unique_ptr<ActiveFault> active;
};

class Schedule final : public Nemesis {
 public:
  Schedule(const std::vector<FaultPlan>& plans, const ScheduleOptions& options);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() override;

  void start(Stage& stage, Recorder& recorder, std::function<void(std::size_t)> release) override;
  [[nodiscard]] std::vector<std::string> steps_to_stop_at(std::string_view f) override;
  [[nodiscard]] bool observe(std::size_t lane, const Event& event) override;
  void finish() override;

 private:
  void work();
  [[nodiscard]] Time next_due() const;
  [[nodiscard]] bool may_strike(const Strike& strike, Time now) const;
  [[nodiscard]] Time length(const FaultPlan& plan) const;
  void inject(Strike& strike);
  void heal(Strike& strike);
  void record(const Strike& strike, Value value);

  ScheduleOptions options_;
  std::vector<Strike> strikes_;
  Stage* stage_ = nullptr;
  Recorder* recorder_ = nullptr;
  std::function<void(std::size_t)> release_;
  std::uint64_t count_ = 0;
  std::vector<std::string> not_healed_;

  std::mutex mutex_;  // strikes_ except `active`, which is the worker's
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread worker_;
};

Schedule::Schedule(const std::vector<FaultPlan>& plans, const ScheduleOptions& options) : options_(options) {
  const Rng rng(options.seed);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Strike strike;
    strike.plan = plans[i];
    strike.fault = find_fault(plans[i].fault).make(plans[i].target);
    strike.rng = rng.split("nemesis", i);
    strike.ready =
        options.first +
        Time(static_cast<std::int64_t>(strike.rng.below(static_cast<std::uint64_t>(options.gap.count() / 2 + 1))));
    strikes_.push_back(std::move(strike));
  }
}

Schedule::~Schedule() {
  try {
    finish();
  } catch (const Error& error) {
    log(LogLevel::error, "", error.what());
  }
}

void Schedule::start(Stage& stage, Recorder& recorder, std::function<void(std::size_t)> release) {
  stage_ = &stage;
  recorder_ = &recorder;
  release_ = std::move(release);
  const Time now = recorder.now();
  for (Strike& strike : strikes_) {
    strike.fault->rehearse(stage.cluster());
    strike.ready += now;
  }
  worker_ = std::thread([this] { work(); });
}

// "clock-drift" and "clock-back" both turn the clock.
std::string_view family(std::string_view fault) {
  return fault.substr(0, fault.find('-'));
}

// Two partitions at a time would undo each other: there is one set of cut links. So would two faults of a clock.
bool Schedule::may_strike(const Strike& strike, Time now) const {
  if (stopping_ || strike.state != Strike::State::waiting || now < strike.ready) return false;
  return std::none_of(strikes_.begin(), strikes_.end(), [&](const Strike& other) {
    return &other != &strike && family(other.plan.fault) == family(strike.plan.fault) &&
           other.state != Strike::State::waiting;
  });
}

std::vector<std::string> Schedule::steps_to_stop_at(std::string_view /*f*/) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> steps;
  for (const Strike& strike : strikes_) {
    if (strike.plan.when == FaultPlan::When::step && may_strike(strike, recorder_->now()))
      steps.push_back(strike.plan.step);
  }
  return steps;
}

bool Schedule::observe(std::size_t lane, const Event& event) {
  const std::lock_guard lock(mutex_);
  bool hold = false;
  for (Strike& strike : strikes_) {
    const bool granted_to_other = strike.state == Strike::State::active && strike.lane && *strike.lane != lane &&
                                  event.type == EventType::ok && event.f == "acquire" && event.key == strike.key;
    if (granted_to_other && strike.plan.fault == "pause") {
      strike.ends = std::min(strike.ends, event.time + kOverlap);
      changed_.notify_all();
    }
    if (hold || !sets_off(strike.plan, event) || !may_strike(strike, event.time)) continue;
    if (!strike.rng.chance(kStrikeChance)) continue;
    strike.state = Strike::State::set_off;
    strike.lane = lane;
    strike.key = event.key;
    hold = true;
    changed_.notify_all();
  }
  return hold;
}

// How long a fault lasts when nothing ends it sooner.
Time Schedule::length(const FaultPlan& plan) const {
  const Time lease = options_.leases ? options_.lease : Time(milliseconds(400));
  if (plan.fault == "pause") return plan.target == "server" ? lease : 3 * lease;
  if (plan.fault == "kill") return plan.target == "server" ? Time(milliseconds(300)) : Time{};
  return lease + lease / 2;
}

void Schedule::record(const Strike& strike, Value value) {
  Event event{.type = EventType::info,
              .process = Process::nemesis,
              .f = strike.plan.fault,
              .key = strike.key,
              .value = std::move(value)};
  recorder_->append(event);
  recorder_->flush();
}

void Schedule::inject(Strike& strike) {
  strike.id = ++count_;
  Value value = {{"fault", strike.id}, {"phase", "start"}, {"plan", to_string(strike.plan)}};
  try {
    strike.active = strike.fault->inject(*stage_, strike.lane, strike.rng);
    const Effect effect = strike.active->effect();
    value["target"] = strike.active->target();
    value["effective"] = effect.seen;
    value["evidence"] = effect.evidence;
  } catch (const Error& error) {
    value["error"] = error.what();
    value["effective"] = false;
  }
  record(strike, std::move(value));
  if (strike.lane) release_(*strike.lane);
}

void Schedule::heal(Strike& strike) {
  Value value = {{"fault", strike.id}, {"phase", "end"}};
  try {
    const Effect effect = strike.active->effect();
    const Effect healed = strike.active->heal();
    value["effective"] = effect.seen;
    value["healed"] = healed.seen;
    value["evidence"] = {{"effect", effect.evidence}, {"heal", healed.evidence}};
  } catch (const Error& error) {
    value["healed"] = false;
    value["error"] = error.what();
  }
  if (!value["healed"].get<bool>()) {
    not_healed_.push_back(
        fmt::format("fault {} ({}) did not heal: {}", strike.id, to_string(strike.plan), value.dump()));
  }
  record(strike, std::move(value));
  strike.active.reset();
}

Time Schedule::next_due() const {
  Time due = Time::max();
  for (const Strike& strike : strikes_) {
    if (strike.state == Strike::State::active) due = std::min(due, strike.ends);
    if (strike.state == Strike::State::waiting && strike.plan.when == FaultPlan::When::at_times) {
      due = std::min(due, strike.ready);
    }
    if (strike.state == Strike::State::set_off) due = Time{};
  }
  return due;
}

void Schedule::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Time now = recorder_->now();
    bool idle = true;
    for (Strike& strike : strikes_) {
      const bool at_time = strike.plan.when == FaultPlan::When::at_times && may_strike(strike, now);
      if (strike.state == Strike::State::set_off || at_time) {
        strike.state = Strike::State::set_off;
        lock.unlock();
        inject(strike);
        lock.lock();
        strike.state = strike.active != nullptr ? Strike::State::active : Strike::State::waiting;
        strike.ends = recorder_->now() + length(strike.plan);
        strike.ready = recorder_->now() + options_.gap;
        idle = false;
      } else if (strike.state == Strike::State::active && (stopping_ || now >= strike.ends)) {
        lock.unlock();
        heal(strike);
        lock.lock();
        strike.state = Strike::State::waiting;
        strike.lane.reset();
        strike.ready =
            recorder_->now() + options_.gap +
            Time(static_cast<std::int64_t>(strike.rng.below(static_cast<std::uint64_t>(options_.gap.count()))));
        idle = false;
      }
    }
    if (!idle) continue;
    if (stopping_) return;
    now = recorder_->now();
    const Time due = next_due();
    changed_.wait_for(lock,
                      due == Time::max() ? Time(std::chrono::hours(1)) : std::max(Time(milliseconds(1)), due - now));
  }
}

void Schedule::finish() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
  if (!not_healed_.empty()) throw Error(not_healed_.front());
}

}  // namespace

std::unique_ptr<Nemesis> make_nemesis(const std::vector<FaultPlan>& plans, const ScheduleOptions& options) {
  return std::make_unique<Schedule>(plans, options);
}

}  // namespace holdfast
