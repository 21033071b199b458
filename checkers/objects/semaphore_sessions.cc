#include "checkers/objects/semaphore_sessions.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "checkers/objects/lock_sessions.h"
#include "checkers/objects/mutex_attempts.h"

namespace holdfast::objects {

namespace locks {

namespace {

bool is_attempt(const Operation& operation) {
  return operation.f == Call::acquire && operation.refused();
}

std::int64_t step_of(const Operation& operation) {
  if (operation.refused()) return 0;
  return operation.f == Call::acquire ? 1 : -1;
}

class Schedule {
 public:
  Schedule(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise),
        operations_(operations),
        limits_(limits),
        owners_(promise, operations),
        paths_(operations, owners_, promise.permits, limits),
        permits_(promise.permits),
        sessions_(owners_.size()),
        next_(operations.size(), kNone) {}

  Decision run() {
    if (paths_.stopped()) return out_of_limits("the time");
    if (paths_.contradiction()) return violated(*paths_.contradiction());
    for (std::size_t i = 0; i < operations_.size();) {
      if (stopped_at(i, limits_)) return out_of_limits("the time");
      if (auto decision = answer_before(operations_[i].call)) return std::move(*decision);
      if (passed_ > i) {
        i = passed_;
      } else {
        call(static_cast<std::uint32_t>(i++));
      }
    }
    if (auto decision = answer_before(kNever)) return std::move(*decision);
    return decide_attempts();
  }

 private:
  struct Session {
    std::uint32_t head = kNone;     // the first operation that is called but not yet done
    std::uint32_t tail = kNone;     // the last one
    std::uint32_t run = kNone;      // where its path last left zero
    std::uint32_t attempt = kNone;  // its refused acquire under way
    std::uint32_t version = 0;      // changes with the head
    std::uint32_t unseen = 0;       // acquires of unknown outcome on its path since the last answer
  };

  struct Rise {
    std::int64_t height;
    std::uint32_t owner;
    std::uint32_t version;
    bool operator>(const Rise& other) const { return height > other.height; }
  };

  struct Answered {
    Instant time;
    std::uint32_t number;
    bool operator>(const Answered& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };

  void call(std::uint32_t number) {
    const Operation& operation = operations_[number];
    const std::uint32_t owner = owners_.of(operation);
    Session& session = sessions_[owner];
    if (session.attempt != kNone) {  // the clock does not tell which comes first
      unexplained_.push_back(session.attempt);
      session.attempt = kNone;
    }
    if (is_attempt(operation)) {
      session.attempt = number;
      attempts_.push_back(number);
      answers_.push({operation.ret, number});
      if (used_ == permits_) sight();
      return;
    }
    const bool from_zero = paths_.count(owner) == 0;
    if (!paths_.takes(operation, owner)) return;
    if (from_zero) session.run = number;
    if (!operation.unknown()) {
      session.unseen = 0;
      answers_.push({operation.ret, number});
    } else if (operation.f == Call::acquire && ++session.unseen > 1) {
      outside_ = true;
    }
    if (session.head == kNone) {
      session.head = number;
      ++session.version;
    } else {
      // Asked for at the very instant of an answer: a rise that must end now may already fall again, and which of two
      // rises comes first then matters.
      if (operations_[session.tail].ret == operation.call) outside_ = true;
      next_[session.tail] = number;
    }
    session.tail = number;
    if (operation.f == Call::release) settle(owner);
  }

  void perform_first(Session& session) {
    const std::uint32_t number = session.head;
    used_ += step_of(operations_[number]);
    order_.push_back(number);
    session.head = next_[number];
    ++session.version;
    if (used_ == permits_ && !attempts_.empty()) sight();
  }

  // The attempts under way see all permits taken.
  void sight() {
    std::erase_if(attempts_, [this](std::uint32_t attempt) {
      Session& session = sessions_[owners_.of(operations_[attempt])];
      if (session.attempt != attempt) return true;
      if (session.head != kNone) return false;  // its own requests come first
      order_.push_back(attempt);
      session.attempt = kNone;
      return true;
    });
  }

  // Does what this owner can do at no cost to others, then what the others can do in the room that this makes.
  void settle(std::uint32_t owner) {
    advance(owner);
    while (!rises_.empty() && used_ + rises_.top().height <= permits_) {
      const Rise rise = rises_.top();
      rises_.pop();
      if (sessions_[rise.owner].version == rise.version) advance(rise.owner);
    }
  }

  void advance(std::uint32_t owner) {
    Session& session = sessions_[owner];
    while (session.head != kNone) {
      // The height of the first rise, if it is known to end.
      std::int64_t level = 0;
      std::int64_t height = 0;
      std::size_t steps = 0;
      for (std::uint32_t each = session.head; each != kNone; each = next_[each]) {
        level += step_of(operations_[each]);
        height = std::max(height, level);
        ++steps;
        if (level <= 0) break;
      }
      if (level > 0) return;
      if (used_ + height > permits_) {
        rises_.push({height, owner, session.version});
        return;
      }
      for (; steps > 0; --steps) perform_first(session);
    }
  }

  // Everything that returned before this call must have been done.
  std::optional<Decision> answer_before(Instant time) {
    while (!answers_.empty() && answers_.top().time < time) {
      const std::uint32_t number = answers_.top().number;
      answers_.pop();
      const std::uint32_t owner = owners_.of(operations_[number]);
      Session& session = sessions_[owner];
      if (is_attempt(operations_[number])) {
        if (session.attempt != number) continue;
        unexplained_.push_back(number);
        session.attempt = kNone;
        continue;
      }
      if (session.head == kNone || session.head > number) continue;
      std::int64_t level = 0;
      std::int64_t height = 0;
      for (std::uint32_t each = session.head;; each = next_[each]) {
        level += step_of(operations_[each]);
        height = std::max(height, level);
        if (each == number) break;
      }
      if (used_ + height > permits_) {
        if (!outside_) return overfull(number);
        return search_around(number);
      }
      while (session.head != kNone && session.head <= number) perform_first(session);
      settle(owner);
    }
    return std::nullopt;
  }

  // Beyond its class the greedy schedule's no is no proof. If the stretch is possible after all, goes on behind it.
  std::optional<Decision> search_around(std::uint32_t number) {
    if (cuts_.empty()) cuts_ = stretches(promise_, operations_, owners_, promise_.permits);
    const auto cut = std::ranges::upper_bound(cuts_, number);
    const std::uint32_t begin = *(cut - 1);
    const std::uint32_t end = *cut;
    Decision found = search_stretch(promise_, operations_, begin, end, limits_);
    searched_ += end - begin;
    if (found.answer == Answer::violation) {
      const bool refusals =
          std::ranges::any_of(found.core, [this](std::uint32_t each) { return is_attempt(operations_[each]); });
      if (!refusals) return found;
      return phantom(promise_, operations_, owners_, promise_.permits, std::move(found), begin, limits_);
    }
    if (found.answer == Answer::undecided) {
      if (begin > 0) found.proven_until = operations_[begin].call;
      return found;
    }
    while (!order_.empty() && order_.back() >= begin) order_.pop_back();
    order_.insert(order_.end(), found.witness.begin(), found.witness.end());
    std::erase_if(unexplained_, [begin](std::uint32_t attempt) { return attempt >= begin; });
    // Behind the stretch everybody begins anew; the paths have to be followed up to there.
    for (std::size_t i = called_until(number); i < end; ++i) {
      if (!is_attempt(operations_[i])) paths_.takes(operations_[i], owners_.of(operations_[i]));
    }
    for (Session& session : sessions_) session = {.version = session.version + 1};
    rises_ = {};
    answers_ = {};
    attempts_.clear();
    used_ = 0;
    outside_ = false;
    passed_ = end;
    return std::nullopt;
  }

  // How many operations were called when this one had to be done.
  [[nodiscard]] std::size_t called_until(std::uint32_t number) const {
    const Instant time = operations_[number].ret;
    return static_cast<std::size_t>(std::ranges::upper_bound(operations_, time, {}, &Operation::call) -
                                    operations_.begin());
  }

  Decision overfull(std::uint32_t number) {
    const Operation& operation = operations_[number];
    Contradiction found{.rule = "too-many-permits", .from = operation.call, .to = operation.ret};
    // Those who hold something now, and the one who cannot: their paths between two zeros, for the rest of a session
    // does not need any permits, whatever is weakened.
    Numbers ends(sessions_.size(), 0);
    const std::size_t called = called_until(number);
    std::size_t first = called;
    std::size_t open = 0;
    for (std::uint32_t owner = 0; owner < sessions_.size(); ++owner) {
      const bool holds = paths_.count(owner) > 0;
      if (!holds && sessions_[owner].head == kNone) continue;
      first = std::min<std::size_t>(first, sessions_[owner].run);
      ends[owner] = holds ? kNone : static_cast<std::uint32_t>(called);
      if (holds) ++open;
    }
    for (std::size_t i = called; i < operations_.size() && open > 0; ++i) {
      if (is_attempt(operations_[i])) continue;
      const std::uint32_t owner = owners_.of(operations_[i]);
      paths_.takes(operations_[i], owner);
      if (ends[owner] != kNone || paths_.count(owner) > 0) continue;
      ends[owner] = static_cast<std::uint32_t>(i + 1);
      --open;
    }
    for (std::size_t i = first; i < operations_.size(); ++i) {
      if (is_attempt(operations_[i])) continue;
      const std::uint32_t owner = owners_.of(operations_[i]);
      if (i < ends[owner] && i >= sessions_[owner].run) found.part.push_back(static_cast<std::uint32_t>(i));
    }
    if (!limits_.minimal_core || !impossible(weakened_part(operations_, found.part, known(found)))) {
      found.part.clear();
      for (std::uint32_t i = 0; i < operations_.size(); ++i) {
        if (!is_attempt(operations_[i])) found.part.push_back(i);
      }
    }
    return violated(found);
  }

  [[nodiscard]] Numbers known(const Contradiction& contradiction) const {
    Numbers numbers = candidates(operations_, contradiction);
    std::ranges::sort(numbers);
    return numbers;
  }

  [[nodiscard]] bool impossible(Operations part) const {
    Limits quick = limits_;
    quick.witness = false;
    quick.minimal_core = false;
    return decide_semaphore_sessions(promise_, part, quick).answer == Answer::violation;
  }

  Decision violated(const Contradiction& contradiction) {
    Decision decision;
    decision.answer = Answer::violation;
    decision.rule = contradiction.rule;
    decision.from = contradiction.from;
    decision.to = contradiction.to;
    decision.searched = searched_;
    decision.core = candidates(operations_, contradiction);
    if (limits_.minimal_core) {
      minimise(
          operations_, contradiction.part, decision.core, [this](Operations part) { return impossible(part); },
          limits_);
    }
    std::ranges::sort(decision.core);
    if (contradiction.rule.empty()) {
      explain_session(operations_, promise_.permits, decision);
    } else {
      decision.because = named(decision.core, decision.core) + " cannot all be true: at one instant there would be " +
                         "more permits taken than the " + std::to_string(permits_) + " that there are";
    }
    return decision;
  }

  Decision decide_attempts() {
    Decision decision;
    decision.searched = searched_;
    if (unexplained_.empty()) {
      if (limits_.witness) decision.witness = std::move(order_);
      return decision;
    }
    std::ranges::sort(unexplained_);
    if (cuts_.empty()) cuts_ = stretches(promise_, operations_, owners_, promise_.permits);
    auto next = order_.begin();
    for (auto attempt = unexplained_.begin(); attempt != unexplained_.end();) {
      const auto cut = std::ranges::upper_bound(cuts_, *attempt);
      const std::uint32_t begin = *(cut - 1);
      const std::uint32_t end = *cut;
      Decision found = search_stretch(promise_, operations_, begin, end, limits_);
      decision.searched += end - begin;
      if (found.answer == Answer::violation) {
        return phantom(promise_, operations_, owners_, promise_.permits, std::move(found), begin, limits_);
      }
      if (found.answer == Answer::undecided) {
        if (begin > 0) found.proven_until = operations_[begin].call;
        return found;
      }
      // Operations of different stretches do not mix in the order.
      while (next != order_.end() && *next < begin) decision.witness.push_back(*next++);
      decision.witness.insert(decision.witness.end(), found.witness.begin(), found.witness.end());
      while (next != order_.end() && *next < end) ++next;
      while (attempt != unexplained_.end() && *attempt < end) ++attempt;
    }
    decision.witness.insert(decision.witness.end(), next, order_.end());
    if (!limits_.witness) decision.witness.clear();
    return decision;
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  Owners owners_;
  Paths paths_;
  std::int64_t permits_;
  std::vector<Session> sessions_;
  Numbers next_;
  std::int64_t used_ = 0;
  bool outside_ = false;  // an owner needed two acquires of unknown outcome between two answers, or the clock is coarse
  std::size_t passed_ = 0;  // operations before this one were searched
  Numbers order_;
  Numbers attempts_;     // under way
  Numbers unexplained_;  // refused acquires that the schedule does not explain
  Numbers cuts_;
  std::uint64_t searched_ = 0;
  std::priority_queue<Rise, std::vector<Rise>, std::greater<>> rises_;
  std::priority_queue<Answered, std::vector<Answered>, std::greater<>> answers_;
};

}  // namespace

}  // namespace locks

Decision decide_semaphore_sessions(const Promise& promise, Operations operations, const Limits& limits) {
  bool single = has_ordered_sessions(promise);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (operation.f != Call::acquire && operation.f != Call::release) locks::refuse_call(promise, i, operation);
    single = single && (operation.argument == kNothing || operation.argument == 1);
  }
  if (!single) return locks::search_stretch(promise, operations, 0, operations.size(), limits);
  constexpr std::size_t kBytesPerOperation = 8;
  if (limits.bytes != 0 && operations.size() * kBytesPerOperation > limits.bytes) {
    return locks::out_of_limits("the memory");
  }
  return locks::Schedule(promise, operations, limits).run();
}

}  // namespace holdfast::objects
