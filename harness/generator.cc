#include "harness/generator.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "harness/error.h"

namespace holdfast {

namespace {

// A lane that has to wait for other lanes looks again after this: that they are done is nothing one can observe.
constexpr Time kLookAgain = std::chrono::milliseconds(5);

// Time::max() stands for "never", also in sums.
constexpr Time later(Time start, Time length) {
  return length > Time::max() - start ? Time::max() : start + length;
}

// State that is kept for each lane and comes into being when the lane first asks.
template <typename State>
State& of_lane(std::vector<State>& states, const Moment& moment) {
  if (moment.lane >= states.size()) states.resize(std::max(moment.lane + 1, moment.lanes));
  return states[moment.lane];
}

class Repeat final : public Generator {
 public:
  explicit Repeat(Invocation operation) : operation_(std::move(operation)) {}
  Next next(const Moment& /*moment*/) override { return Next::invoke(operation_); }

 private:
  Invocation operation_;
};

class FromFunction final : public Generator {
 public:
  explicit FromFunction(std::function<Next(const Moment&)> function) : function_(std::move(function)) {}
  Next next(const Moment& moment) override { return function_(moment); }

 private:
  std::function<Next(const Moment&)> function_;
};

// Each lane draws from a stream of its own, and a draw stands: a lane that drew a generator which has to wait, waits
// with it. So the weights hold exactly, and what a lane draws depends on nothing but the seed.
class Mix final : public Generator {
 public:
  Mix(std::vector<std::pair<double, GeneratorPtr>> weighted, Rng rng) : rng_(rng) {
    for (auto& [weight, generator] : weighted) {
      HOLDFAST_CHECK(generator != nullptr, "mix needs generators");
      if (weight > 0) choices_.push_back({weight, std::move(generator)});  // a weight of 0 leaves it out
    }
  }

  Next next(const Moment& moment) override {
    Lane& lane = of_lane(lanes_, moment);
    if (lane.done.empty()) lane.rng = rng_.split("mix", moment.lane);
    if (lane.done.empty() || lane.process != moment.process) {  // a new process may have more to do than the old one
      lane.process = moment.process;
      lane.done.assign(choices_.size(), false);
    }
    for (;;) {
      if (!lane.drawn) lane.drawn = draw(lane);
      if (!lane.drawn) return Next::done();
      Next next = choices_[*lane.drawn].generator->next(moment);
      if (next.kind == Next::Kind::wait) return next;
      if (next.kind == Next::Kind::operation) {
        lane.asked = std::exchange(lane.drawn, std::nullopt);
        return next;
      }
      lane.done[*lane.drawn] = true;
      lane.drawn.reset();
    }
  }

  // A completion goes to the generator that the operation came from; a note may be of interest to any of them.
  void observe(const Moment& moment, const Event& event) override {
    if (event.type == EventType::info && is_note(event.f)) {
      for (const Choice& choice : choices_) choice.generator->observe(moment, event);
      return;
    }
    const Lane& lane = of_lane(lanes_, moment);
    if (lane.asked) choices_[*lane.asked].generator->observe(moment, event);
  }

 private:
  struct Choice {
    double weight = 0;
    GeneratorPtr generator;
  };
  struct Lane {
    Rng rng{0};  // the real one comes with the first question
    Process process{};
    std::vector<bool> done;            // which choices have nothing more for this process
    std::optional<std::size_t> drawn;  // whose turn it is
    std::optional<std::size_t> asked;  // who gave the latest operation
  };

  std::optional<std::size_t> draw(Lane& lane) const {
    double sum = 0;
    for (std::size_t i = 0; i < choices_.size(); ++i) sum += lane.done[i] ? 0 : choices_[i].weight;
    if (sum <= 0) return std::nullopt;
    double left = lane.rng.unit() * sum;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (lane.done[i]) continue;
      last = i;
      left -= choices_[i].weight;
      if (left < 0) break;
    }
    return last;  // not nothing when rounding left a crumb behind the last one
  }

  Rng rng_;
  std::vector<Choice> choices_;
  std::vector<Lane> lanes_;
};

// A lane that asks gets the next free slot, behind those who asked before it. If instead whoever asks first after the
// gap got the operation, the lane that the runner looks at first would do nearly all the work.
class Stagger final : public Generator {
 public:
  Stagger(Time mean_gap, GeneratorPtr inner, Rng rng)
      : widest_(static_cast<std::uint64_t>(std::max<std::int64_t>(0, mean_gap.count())) * 2),
        inner_(std::move(inner)),
        rng_(rng) {
    HOLDFAST_CHECK(inner_ != nullptr, "stagger needs a generator");
  }

  Next next(const Moment& moment) override {
    Lane& lane = of_lane(lanes_, moment);
    if (!lane.waiting) {
      lane.waiting = true;
      lane.slot = std::max(moment.now, free_from_);
      lane.gap = Time(static_cast<std::int64_t>(rng_.below(widest_ + 1)));
      free_from_ = later(lane.slot, lane.gap);
    }
    // An operation that came late, because the inner generator had to wait, moves those behind it.
    const Time slot = std::max(lane.slot, earliest_);
    if (moment.now < slot) return Next::wait_until(slot);
    Next next = inner_->next(moment);
    if (next.kind == Next::Kind::operation) {
      lane.waiting = false;
      earliest_ = later(moment.now, lane.gap);
    }
    return next;
  }

  void observe(const Moment& moment, const Event& event) override { inner_->observe(moment, event); }

 private:
  struct Lane {
    bool waiting = false;
    Time slot{};
    Time gap{};  // from this lane's operation to the one after it
  };
  std::uint64_t widest_;
  GeneratorPtr inner_;
  Rng rng_;
  Time free_from_{};  // behind the last slot given away
  Time earliest_{};   // behind the last operation
  std::vector<Lane> lanes_;
};

class Limit final : public Generator {
 public:
  Limit(std::size_t operations, GeneratorPtr inner) : left_(operations), inner_(std::move(inner)) {
    HOLDFAST_CHECK(inner_ != nullptr, "limit needs a generator");
  }

  Next next(const Moment& moment) override {
    if (left_ == 0) return Next::done();
    Next next = inner_->next(moment);
    if (next.kind == Next::Kind::operation) --left_;
    return next;
  }

  void observe(const Moment& moment, const Event& event) override { inner_->observe(moment, event); }

 private:
  std::size_t left_;
  GeneratorPtr inner_;
};

class TimeLimit final : public Generator {
 public:
  TimeLimit(Time length, GeneratorPtr inner) : length_(length), inner_(std::move(inner)) {
    HOLDFAST_CHECK(inner_ != nullptr, "time_limit needs a generator");
  }

  Next next(const Moment& moment) override {
    if (!end_) end_ = later(moment.now, length_);
    if (moment.now >= *end_) return Next::done();
    Next next = inner_->next(moment);
    if (next.kind == Next::Kind::wait) next.until = std::min(next.until, *end_);
    return next;
  }

  void observe(const Moment& moment, const Event& event) override { inner_->observe(moment, event); }

 private:
  Time length_;
  GeneratorPtr inner_;
  std::optional<Time> end_;
};

// A lane asks only while it has no operation open, so when every lane was told "done", all of them are idle too.
class Phases final : public Generator {
 public:
  explicit Phases(std::vector<GeneratorPtr> in_order) : phases_(std::move(in_order)) {
    for (const GeneratorPtr& phase : phases_) HOLDFAST_CHECK(phase != nullptr, "phases needs generators");
  }

  Next next(const Moment& moment) override {
    if (done_.size() < moment.lanes) done_.resize(moment.lanes);
    while (current_ < phases_.size()) {
      if (!done_[moment.lane]) {
        Next next = phases_[current_]->next(moment);
        if (next.kind != Next::Kind::done) return next;
        done_[moment.lane] = true;
        ++done_count_;
      }
      if (current_ + 1 == phases_.size()) break;  // nothing comes after it: no need to wait for the others
      if (done_count_ < done_.size()) return Next::wait_until(later(moment.now, kLookAgain));
      done_.assign(done_.size(), false);
      done_count_ = 0;
      phases_[current_].reset();
      ++current_;
    }
    return Next::done();
  }

  void observe(const Moment& moment, const Event& event) override {
    if (current_ < phases_.size()) phases_[current_]->observe(moment, event);
  }

 private:
  std::vector<GeneratorPtr> phases_;
  std::size_t current_ = 0;
  std::vector<bool> done_;  // by lane, with the current phase
  std::size_t done_count_ = 0;
};

// Each group sees lanes 0 … count - 1 of its own, so that phases inside it wait for the lanes of the group alone.
class Reserve final : public Generator {
 public:
  Reserve(std::vector<std::pair<std::size_t, GeneratorPtr>> counted, GeneratorPtr rest) {
    std::size_t begin = 0;
    for (auto& [count, generator] : counted) {
      groups_.push_back({begin, count, std::move(generator)});
      begin += count;
    }
    groups_.push_back({begin, std::numeric_limits<std::size_t>::max() - begin, std::move(rest)});
  }

  Next next(const Moment& moment) override {
    const Group& group = group_of(moment.lane);
    return group.generator == nullptr ? Next::done() : group.generator->next(within(group, moment));
  }

  void observe(const Moment& moment, const Event& event) override {
    const Group& group = group_of(moment.lane);
    if (group.generator != nullptr) group.generator->observe(within(group, moment), event);
  }

 private:
  struct Group {
    std::size_t begin = 0;
    std::size_t count = 0;
    GeneratorPtr generator;  // null: these lanes have nothing to do
  };

  [[nodiscard]] const Group& group_of(std::size_t lane) const {
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [lane](const Group& group) { return lane - group.begin < group.count; });
    HOLDFAST_CHECK(found != groups_.end(), "the last group takes every lane that is left");
    return *found;
  }
  static Moment within(const Group& group, Moment moment) {
    moment.lane -= group.begin;
    moment.lanes = std::min(group.count, moment.lanes - group.begin);
    return moment;
  }

  std::vector<Group> groups_;
};

// The generator of a process sees one lane, its own, so that phases inside it are the phases of this process.
class EachProcess final : public Generator {
 public:
  explicit EachProcess(std::function<GeneratorPtr(const Moment&)> make) : make_(std::move(make)) {}

  Next next(const Moment& moment) override {
    Lane& lane = of_lane(lanes_, moment);
    if (lane.generator == nullptr || lane.process != moment.process) {
      lane.process = moment.process;
      lane.generator = make_(moment);
      HOLDFAST_CHECK(lane.generator != nullptr, "each_process needs a generator for every process");
    }
    return lane.generator->next(alone(moment));
  }

  void observe(const Moment& moment, const Event& event) override {
    const Lane& lane = of_lane(lanes_, moment);
    // What a retired process says last is for nobody: its generator's knowledge went with it.
    if (lane.generator != nullptr && lane.process == event.process) lane.generator->observe(alone(moment), event);
  }

 private:
  struct Lane {
    Process process{};
    GeneratorPtr generator;
  };
  static Moment alone(Moment moment) {
    moment.lane = 0;
    moment.lanes = 1;
    return moment;
  }

  std::function<GeneratorPtr(const Moment&)> make_;
  std::vector<Lane> lanes_;
};

class UntilOk final : public Generator {
 public:
  explicit UntilOk(GeneratorPtr inner) : inner_(std::move(inner)) {
    HOLDFAST_CHECK(inner_ != nullptr, "until_ok needs a generator");
  }

  Next next(const Moment& moment) override {
    const Lane& lane = of_lane(lanes_, moment);
    if (lane.satisfied == moment.process) return Next::done();
    return inner_->next(moment);
  }

  void observe(const Moment& moment, const Event& event) override {
    if (event.type == EventType::ok) of_lane(lanes_, moment).satisfied = event.process;
    inner_->observe(moment, event);
  }

 private:
  struct Lane {
    std::optional<Process> satisfied;  // the latest process of this lane that had an ok
  };
  GeneratorPtr inner_;
  std::vector<Lane> lanes_;
};

}  // namespace

GeneratorPtr repeat(Invocation operation) {
  return std::make_unique<Repeat>(std::move(operation));
}

GeneratorPtr from_function(std::function<Next(const Moment&)> function) {
  return std::make_unique<FromFunction>(std::move(function));
}

GeneratorPtr mix(std::vector<std::pair<double, GeneratorPtr>> weighted, Rng rng) {
  return std::make_unique<Mix>(std::move(weighted), rng);
}

GeneratorPtr stagger(Time mean_gap, GeneratorPtr inner, Rng rng) {
  return std::make_unique<Stagger>(mean_gap, std::move(inner), rng);
}

GeneratorPtr limit(std::size_t operations, GeneratorPtr inner) {
  return std::make_unique<Limit>(operations, std::move(inner));
}

GeneratorPtr time_limit(Time length, GeneratorPtr inner) {
  return std::make_unique<TimeLimit>(length, std::move(inner));
}

GeneratorPtr phases(std::vector<GeneratorPtr> in_order) {
  return std::make_unique<Phases>(std::move(in_order));
}

GeneratorPtr reserve(std::vector<std::pair<std::size_t, GeneratorPtr>> counted, GeneratorPtr rest) {
  return std::make_unique<Reserve>(std::move(counted), std::move(rest));
}

GeneratorPtr each_process(std::function<GeneratorPtr(const Moment&)> make) {
  return std::make_unique<EachProcess>(std::move(make));
}

GeneratorPtr until_ok(GeneratorPtr inner) {
  return std::make_unique<UntilOk>(std::move(inner));
}

}  // namespace holdfast
