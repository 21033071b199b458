#include "checkers/oracle/lease_oracle.h"

#include <algorithm>
#include <compare>
#include <set>
#include <stdexcept>
#include <vector>

namespace holdfast::oracle {

namespace {

using objects::Call;
using objects::Identity;
using objects::Instant;
using objects::kNever;
using objects::kNone;
using objects::kNothing;
using objects::Operation;
using objects::Operations;
using objects::Promise;

struct State {
  std::uint32_t behind = 0;  // operations done, or passed over by an ordered session
  std::uint32_t holder = kNone;
  Instant refreshed = 0;
  Instant lease = 0;
  auto operator<=>(const State&) const = default;
};

class Clock {
 public:
  Clock(const Promise& promise, Operations operations) : promise_(promise), operations_(operations) {}

  bool run() {
    Instant first = kNever;
    Instant last = 0;
    for (const Operation& each : operations_) {
      first = std::min(first, each.call);
      if (each.ret != kNever) last = std::max(last, each.ret);
    }
    std::set<State> states{State{}};
    for (Instant now = first; now <= last && !states.empty(); ++now) states = at(now, states);
    return !states.empty();
  }

 private:
  // All that can be reached at this instant; then what had to be done by now must be done.
  [[nodiscard]] std::set<State> at(Instant now, const std::set<State>& before) const {
    std::set<State> reached = before;
    std::vector<State> open(before.begin(), before.end());
    while (!open.empty()) {
      const State state = open.back();
      open.pop_back();
      for (std::size_t i = 0; i < operations_.size(); ++i) {
        State next = state;
        if (may_act(state, i, now) && act(next, i, now) && reached.insert(next).second) open.push_back(next);
      }
    }
    std::erase_if(reached, [&](const State& state) {
      for (std::size_t i = 0; i < operations_.size(); ++i) {
        if ((state.behind >> i & 1U) == 0 && !operations_[i].unknown() && operations_[i].ret == now) return true;
      }
      return false;
    });
    return reached;
  }

  [[nodiscard]] bool may_act(const State& state, std::size_t number, Instant now) const {
    const Operation& operation = operations_[number];
    if ((state.behind >> number & 1U) != 0 || operation.call > now || operation.ret < now) return false;
    if (operation.unknown() && !has_ordered_sessions(promise_)) return true;
    for (std::size_t i = 0; i < number; ++i) {
      if ((state.behind >> i & 1U) == 0 && !operations_[i].unknown() && operations_[i].process == operation.process) {
        return false;
      }
    }
    return true;
  }

  bool act(State& state, std::size_t number, Instant now) const {
    const Operation& operation = operations_[number];
    const std::uint32_t owner = promise_.identity == Identity::hold ? operation.hold : operation.process;
    const bool droppable = state.holder != kNone && state.lease != kNever && now - state.refreshed >= state.lease;
    const Instant longest = std::max(promise_.lease_greatest, state.lease);
    const bool gone = state.holder != kNone && longest != kNever && now - state.refreshed > longest;
    state.behind |= 1U << number;
    if (has_ordered_sessions(promise_)) {
      for (std::size_t i = 0; i < number; ++i) {
        if (operations_[i].process == operation.process) state.behind |= 1U << i;
      }
    }
    const bool holds = state.holder == owner && !gone;
    if (operation.f == Call::acquire) {
      if (operation.refused()) return state.holder != kNone && !gone;
      if (state.holder != kNone && !droppable) return false;
      state.holder = owner;
      state.refreshed = now;
      state.lease = operation.argument == kNothing ? promise_.lease_least : operation.argument;
      return true;
    }
    if (operation.refused()) {
      if (holds && !droppable) return false;
      if (state.holder == owner) state = {state.behind, kNone, 0, 0};
      return true;
    }
    if (!holds) return false;
    if (operation.f == Call::renew) {
      state.refreshed = now;
    } else {
      state = {state.behind, kNone, 0, 0};
    }
    return true;
  }

  const Promise& promise_;
  Operations operations_;
};

}  // namespace

bool lease_possible(const Promise& promise, Operations operations) {
  constexpr std::size_t kMostOperations = 20;
  if (operations.size() > kMostOperations) throw std::invalid_argument("too many operations to try every instant");
  return Clock(promise, operations).run();
}

}  // namespace holdfast::oracle
