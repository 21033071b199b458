#include "checkers/objects/anonymous.h"

#include <algorithm>
#include <array>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "checkers/objects/lock_sessions.h"

namespace holdfast::objects {

namespace locks {

namespace {

enum class Order : std::uint8_t {
  kept,    // sessions keep their order, and refusals are looked for
  ignored  // the clock alone counts, refusals do not
};

class Schedule {
 public:
  Schedule(const Promise& promise, Operations operations, Order order, const Limits& limits)
      : operations_(operations),
        limits_(limits),
        kept_(order == Order::kept),
        ordered_(kept_ && has_ordered_sessions(promise)),
        permits_(promise.permits),
        processes_(operations, false),
        last_done_(processes_.size(), kNone),
        done_(operations.size()) {}

  // False: not possible in this way, or stopped by a limit.
  bool run() {
    if (limits_.witness) order_.reserve(operations_.size());
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      stopped_ = stopped_ || stopped_at(i, limits_);
      if (stopped_ || !answer_before(operations_[i].call)) return false;
      const Operation& operation = operations_[i];
      if (operation.refused() && !kept_) continue;
      if (!operation.unknown()) answers_.push({operation.ret, i});
      if (operation.refused()) {
        refused_.push_back(i);
        look();
      } else {
        waiting(operation.f).push({operation.ret, i});
      }
    }
    return answer_before(kNever);
  }

  [[nodiscard]] bool stopped() const { return stopped_; }
  // The operation whose answer could not be explained.
  [[nodiscard]] std::uint32_t failed() const { return failed_; }
  // Are the operations of each process in their order?
  [[nodiscard]] bool in_order() const { return in_order_; }
  Numbers take_order() { return std::move(order_); }

 private:
  struct Deadline {
    Instant time;
    std::uint32_t number;
    bool operator>(const Deadline& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };
  using Queue = std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>>;

  Queue& waiting(Call f) { return waiting_[f == Call::acquire ? 0 : 1]; }

  [[nodiscard]] bool possible_now(const Operation& operation) const {
    return operation.f == Call::acquire ? held_ < permits_ : held_ > 0;
  }

  void perform(std::uint32_t number) {
    const Operation& operation = operations_[number];
    if (!operation.refused()) held_ += operation.f == Call::acquire ? 1 : -1;
    done_[number] = true;
    if (kept_ && (ordered_ || !operation.unknown())) {
      std::uint32_t& last = last_done_[processes_.of(operation)];
      if (last != kNone && last > number) in_order_ = false;
      last = number;
    }
    if (limits_.witness) order_.push_back(number);
    if (!operation.refused()) look();
  }

  // The refused requests under way see whether the object is as they were told.
  void look() {
    if (refused_.empty() || (held_ > 0 && held_ < permits_)) return;
    std::erase_if(refused_, [this](std::uint32_t number) {
      const bool true_now = operations_[number].f == Call::acquire ? held_ == permits_ : held_ == 0;
      if (true_now) perform(number);
      return true_now;
    });
  }

  // The one to be done before an operation of the other type: with the earliest deadline.
  std::uint32_t helper(Call f) {
    Queue& queue = waiting(f);
    while (!queue.empty()) {
      const std::uint32_t number = queue.top().number;
      queue.pop();
      if (!done_[number] && !is_past(number)) return number;
    }
    return kNone;
  }

  // An unknown request that its session has passed.
  [[nodiscard]] bool is_past(std::uint32_t number) const {
    if (!ordered_ || !operations_[number].unknown()) return false;
    const std::uint32_t last = last_done_[processes_.of(operations_[number])];
    return last != kNone && last > number;
  }

  bool answer_before(Instant time) {
    while (!answers_.empty() && answers_.top().time < time) {
      const std::uint32_t number = answers_.top().number;
      answers_.pop();
      if (done_[number]) continue;
      const Operation& operation = operations_[number];
      if (!operation.refused() && !possible_now(operation)) {
        const std::uint32_t first = helper(operation.f == Call::acquire ? Call::release : Call::acquire);
        if (first != kNone) perform(first);
      }
      if (operation.refused() || !possible_now(operation)) {
        failed_ = number;
        return false;
      }
      perform(number);
    }
    return true;
  }

  Operations operations_;
  const Limits& limits_;
  bool kept_;
  bool ordered_;
  std::int64_t permits_;
  Owners processes_;
  Numbers last_done_;
  std::vector<bool> done_;
  std::int64_t held_ = 0;
  std::array<Queue, 2> waiting_;
  Queue answers_;
  Numbers refused_;  // under way and not yet explained
  Numbers order_;
  std::uint32_t failed_ = kNone;
  bool in_order_ = true;
  bool stopped_ = false;
};

// Where the last stretch begins: nothing is unknown before, nothing is under way, and nothing is held.
std::uint32_t last_rest(Operations operations) {
  std::uint32_t result = 0;
  std::int64_t held = 0;
  Instant busy_until = std::numeric_limits<Instant>::min();
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (held == 0 && busy_until < operation.call) result = i;
    if (operation.unknown()) break;
    busy_until = std::max(busy_until, operation.ret);
    if (operation.ok()) held += operation.f == Call::acquire ? 1 : -1;
  }
  return result;
}

class Decider {
 public:
  Decider(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits) {}

  Decision run() {
    Schedule kept(promise_, operations_, Order::kept, limits_);
    const bool possible = kept.run();
    if (kept.stopped()) return out_of_limits("the time");
    if (possible && kept.in_order()) {
      Decision decision;
      decision.witness = kept.take_order();
      return decision;
    }
    Limits quick = limits_;
    quick.witness = false;
    Schedule ignored(promise_, operations_, Order::ignored, quick);
    if (!ignored.run()) {
      return ignored.stopped() ? out_of_limits("the time") : violated(operations_[ignored.failed()].ret, {}, 0);
    }
    return search_last_stretch();
  }

 private:
  Decision search_last_stretch() {
    const std::uint32_t begin = last_rest(operations_);
    Schedule before(promise_, operations_.first(begin), Order::kept, limits_);
    if (!before.run() || !before.in_order()) return searched(0, {});
    return searched(begin, before.take_order());
  }

  Decision searched(std::uint32_t begin, const Numbers& before) {
    Decision found = search_stretch(promise_, operations_, begin, operations_.size(), limits_);
    if (found.answer == Answer::linearizable && limits_.witness) {
      found.witness.insert(found.witness.begin(), before.begin(), before.end());
    }
    if (found.answer == Answer::undecided && begin > 0) found.proven_until = operations_[begin].call;
    if (found.answer != Answer::violation || begin == 0) return found;
    Instant end = std::numeric_limits<Instant>::min();
    for (const std::uint32_t member : found.core) end = std::max(end, operations_[member].ret);
    Decision decision = violated(end, found.core, begin);
    decision.searched = found.searched;
    return decision;
  }

  // What was answered by `end` cannot all be true. Of the operations from `begin` on only those of `core` matter.
  Decision violated(Instant end, const Numbers& core, std::uint32_t begin) {
    Numbers part;
    for (std::uint32_t i = 0; i < operations_.size() && operations_[i].call <= end; ++i) part.push_back(i);
    Decision decision;
    decision.answer = Answer::violation;
    decision.core.assign(core.rbegin(), core.rend());
    // The latest are dropped last: they are the ones that tell the story.
    for (std::size_t i = core.empty() ? part.size() : begin; i-- > 0;) {
      if (!operations_[i].unknown() && operations_[i].ret <= end)
        decision.core.push_back(static_cast<std::uint32_t>(i));
    }
    if (limits_.minimal_core) {
      Limits quick = limits_;
      quick.witness = false;
      quick.minimal_core = false;
      const auto impossible = [&](Operations some) {
        return decide_anonymous(promise_, some, quick).answer == Answer::violation;
      };
      minimise(operations_, part, decision.core, impossible, limits_);
    }
    std::ranges::sort(decision.core);
    explain(decision);
    return decision;
  }

  void explain(Decision& decision) const {
    std::uint32_t last = decision.core.front();
    decision.from = operations_[last].call;
    bool refusals = false;
    for (const std::uint32_t member : decision.core) {
      if (operations_[member].ret > operations_[last].ret) last = member;
      refusals = refusals || operations_[member].refused();
    }
    decision.to = operations_[last].ret;
    decision.because = named(decision.core, decision.core) + " cannot all be true: ";
    if (refusals) {
      decision.rule = "wrongly-refused";
      decision.because += "a refusal said how many hold it, and that was not so";
    } else if (operations_[last].f == Call::acquire) {
      decision.rule = "too-many-holders";
      decision.because += "it would be held more than " + std::to_string(promise_.permits) + " times at once";
    } else {
      decision.rule = "released-while-free";
      decision.because += "it would be released when nobody holds it";
    }
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
};

}  // namespace

}  // namespace locks

Decision decide_anonymous(const Promise& promise, Operations operations, const Limits& limits) {
  if (promise.permits == 0) throw std::invalid_argument("a lock that nobody may acquire");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].f != Call::acquire && operations[i].f != Call::release) {
      locks::refuse_call(promise, i, operations[i]);
    }
  }
  constexpr std::size_t kBytesPerOperation = 8;
  if (limits.bytes != 0 && operations.size() * kBytesPerOperation > limits.bytes) {
    return locks::out_of_limits("the memory");
  }
  return locks::Decider(promise, operations, limits).run();
}

}  // namespace holdfast::objects
