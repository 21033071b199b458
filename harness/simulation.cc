#include "harness/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "harness/error.h"

namespace holdfast {

namespace {

class Run {
 public:
  Run(Generator& generator, const Simulation& simulation)
      : generator_(generator), simulation_(simulation), lanes_(simulation.lanes) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) lanes_[lane].process = Process{std::int64_t(lane)};
  }

  Simulated operator()() && {
    for (;;) {
      while (ask_who_is_due()) {
      }
      result_.finished = std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.done; });
      const Time next = next_time();
      if (next == Time::max()) break;
      if (next > simulation_.end) break;
      result_.now = next;
      if (!pending_.empty() && pending_.top().event.time == next) deliver();
    }
    return std::move(result_);
  }

 private:
  struct Lane {
    Process process{};
    bool busy = false;
    bool done = false;
    Time wake{};
  };
  struct Pending {
    Event event;
    std::size_t lane = 0;
    std::uint64_t order = 0;
    bool operator<(const Pending& other) const {  // the queue hands out its greatest first
      return std::pair(other.event.time, other.order) < std::pair(event.time, order);
    }
  };

  [[nodiscard]] Moment moment(std::size_t lane, Process process) const {
    return {.now = result_.now, .lane = lane, .lanes = lanes_.size(), .process = process};
  }

  bool ask_who_is_due() {
    bool asked = false;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].busy || lanes_[lane].done || lanes_[lane].wake > result_.now) continue;
      ask(lane);
      asked = true;
    }
    return asked;
  }

  void ask(std::size_t number) {
    Lane& lane = lanes_[number];
    ++result_.questions;
    Next next = generator_.next(moment(number, lane.process));
    if (next.kind == Next::Kind::done) {
      lane.done = true;
    } else if (next.kind == Next::Kind::wait) {
      if (next.until <= result_.now) {
        throw Error(fmt::format("at {} ns lane {} is told to wait until {} ns", result_.now.count(), number,
                                next.until.count()));
      }
      lane.wake = next.until;
    } else {
      lane.busy = true;
      invoke(number, std::move(next.operation));
    }
  }

  void invoke(std::size_t number, Invocation operation) {
    Event event;
    event.process = lanes_[number].process;
    event.f = std::move(operation.f);
    event.key = std::move(operation.key);
    event.value = std::move(operation.value);
    event.time = result_.now;
    const Event& invocation = record(number, std::move(event));
    Outcome outcome = simulation_.perform(invocation);

    Event reply;
    reply.process = invocation.process;
    reply.key = invocation.key;
    for (SimulatedNote& note : outcome.notes) {
      reply.type = EventType::info;
      reply.f = std::move(note.f);
      reply.value = std::move(note.value);
      reply.time = result_.now + note.after;
      pending_.push({reply, number, order_++});
    }
    reply.type = outcome.type;
    reply.f = invocation.f;
    reply.value = std::move(outcome.value);
    reply.error = std::move(outcome.error);
    reply.time = result_.now + outcome.latency;
    pending_.push({std::move(reply), number, order_++});
  }

  void deliver() {
    Pending pending = pending_.top();
    pending_.pop();
    Lane& lane = lanes_[pending.lane];
    if (is_note(pending.event.f)) {
      if (lane.process == pending.event.process) record(pending.lane, std::move(pending.event));
      return;
    }
    lane.busy = false;
    const bool unknown = pending.event.type == EventType::info;
    record(pending.lane, std::move(pending.event));
    if (unknown) lane.process = Process{number(lane.process) + std::int64_t(lanes_.size())};
  }

  const Event& record(std::size_t number, Event event) {
    event.index = result_.events.size();
    const Event& recorded = result_.events.emplace_back(std::move(event));
    generator_.observe(moment(number, recorded.process), recorded);
    for (Lane& lane : lanes_) lane.wake = result_.now;
    return recorded;
  }

  Time next_time() const {
    Time next = pending_.empty() ? Time::max() : pending_.top().event.time;
    bool waiting = false;
    for (const Lane& lane : lanes_) {
      if (lane.busy || lane.done) continue;
      waiting = true;
      next = std::min(next, lane.wake);
    }
    if (waiting && next == Time::max()) throw Error("every lane waits for something to happen, and nothing will");
    return next;
  }

  Generator& generator_;
  const Simulation& simulation_;
  std::vector<Lane> lanes_;
  std::priority_queue<Pending> pending_;
  std::uint64_t order_ = 0;
  Simulated result_;
};

}  // namespace

Simulated simulate(Generator& generator, const Simulation& simulation) {
  return Run(generator, simulation)();
}

}  // namespace holdfast
