// Tries every order of a Problem's lines: depth first over (how far each line is, state of the object), remembering
// what was seen. The next step must have been called by the time the first of those that are due returns.
#include <algorithm>
#include <set>

#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

namespace {

using objects::kNever;

// So many lines looked at, over all states, take a second or two.
constexpr std::size_t kMostWork = 40'000'000;

struct State {
  std::vector<std::uint32_t> places;  // by line: how many of its steps are behind us, done or passed over
  Machine machine;
  auto operator<=>(const State&) const = default;
};

class Search {
 public:
  Search(const Promise& promise, const Problem& problem) : promise_(promise), problem_(problem) {
    for (const Line& line : problem.lines) {
      std::vector<Instant>& earliest = earliest_.emplace_back(line.steps.size() + 1, kNever);
      std::vector<std::uint32_t>& due = due_.emplace_back(line.steps.size() + 1, 0);
      for (std::size_t i = line.steps.size(); i-- > 0;) {
        const Operation& operation = line.steps[i].operation;
        earliest[i] = operation.unknown() ? earliest[i + 1] : std::min(earliest[i + 1], operation.ret);
        due[i] = due[i + 1] + (operation.unknown() ? 0 : 1);
      }
    }
  }

  Possibility run() {
    push({.places = std::vector<std::uint32_t>(problem_.lines.size()), .machine = initial_machine(promise_)});
    while (!stack_.empty()) {
      const State& state = *stack_.back();
      stack_.pop_back();
      work_ += problem_.lines.size();
      if (work_ > kMostWork) return Possibility::unclear;
      if (finished(state)) return Possibility::possible;
      expand(state);
    }
    return Possibility::impossible;
  }

 private:
  [[nodiscard]] bool finished(const State& state) const {
    for (std::size_t i = 0; i < problem_.lines.size(); ++i) {
      if (due_[i][state.places[i]] > 0) return false;
    }
    return true;
  }

  void push(State&& state) {
    const auto [place, fresh] = seen_.insert(std::move(state));
    if (fresh) stack_.push_back(&*place);
  }

  void expand(const State& state) {
    Instant deadline = kNever;
    for (std::size_t i = 0; i < problem_.lines.size(); ++i) {
      deadline = std::min(deadline, earliest_[i][state.places[i]]);
    }
    for (std::size_t i = 0; i < problem_.lines.size(); ++i) {
      if (observe(state, i, deadline)) return;
    }
    for (std::size_t i = 0; i < problem_.lines.size(); ++i) advance(state, i, deadline);
  }

  // An observation that is due and true now is best made now: nothing changes but that it is behind us.
  bool observe(const State& state, std::size_t line, Instant deadline) {
    const std::vector<Step>& steps = problem_.lines[line].steps;
    const std::uint32_t place = state.places[line];
    if (place == steps.size() || steps[place].operation.unknown() || steps[place].operation.call > deadline) {
      return false;
    }
    Machine machine = state.machine;
    if (!is_observation(promise_, steps[place].operation) || !perform(machine, steps[place])) return false;
    State next{.places = state.places, .machine = std::move(machine)};
    ++next.places[line];
    push(std::move(next));
    return true;
  }

  // Of equal steps only the next one; nothing beyond the next one that is due.
  void advance(const State& state, std::size_t line, Instant deadline) {
    const std::vector<Step>& steps = problem_.lines[line].steps;
    const std::uint32_t start = state.places[line];
    bool on = true;
    for (std::uint32_t i = start; on && i < steps.size(); ++i, ++work_) {
      const Operation& operation = steps[i].operation;
      on = operation.unknown();
      if (operation.call > deadline) continue;
      if (std::any_of(steps.begin() + start, steps.begin() + i,
                      [&](const Step& earlier) { return same_effect(promise_, earlier.operation, operation); })) {
        continue;
      }
      Machine machine = state.machine;
      if (!perform(machine, steps[i])) continue;
      if (operation.unknown()) {
        if (machine == state.machine) continue;
        if (problem_.worthwhile && !problem_.worthwhile(machine)) continue;
      }
      State next{.places = state.places, .machine = std::move(machine)};
      if (!problem_.lines[line].endless) next.places[line] = i + 1;
      push(std::move(next));
    }
  }

  bool perform(Machine& machine, const Step& step) const {
    if (!apply(machine, promise_, step.operation)) return false;
    if (!step.and_released) return true;
    Operation release = step.operation;
    release.f = objects::Call::release;
    return apply(machine, promise_, release);
  }

  const Promise& promise_;
  const Problem& problem_;
  std::vector<std::vector<Instant>> earliest_;   // by line and place: the first return of those still due
  std::vector<std::vector<std::uint32_t>> due_;  // … and their number
  std::set<State> seen_;
  std::vector<const State*> stack_;
  std::size_t work_ = 0;
};

}  // namespace

Possibility search_order(const Promise& promise, const Problem& problem) {
  return Search(promise, problem).run();
}

}  // namespace holdfast::verify
