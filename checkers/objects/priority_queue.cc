#include "checkers/objects/priority_queue.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "checkers/objects/items.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;

// Which time is covered by open intervals put in so far, and by whom first. Instant k is slot 2k, the gap behind it
// slot 2k+1; each slot knows the next one from itself on that is not covered.
class CoveredTime {
 public:
  explicit CoveredTime(std::vector<Instant> instants) : instants_(std::move(instants)) {
    std::ranges::sort(instants_);
    instants_.erase(std::ranges::unique(instants_).begin(), instants_.end());
    next_.resize(2 * instants_.size() + 1);
    std::iota(next_.begin(), next_.end(), 0U);
    owner_.assign(next_.size(), kNone);
  }

  // The first instant from `when` on (one of the instants) that is not covered.
  [[nodiscard]] Instant free_from(Instant when) { return instants_[find(slot(when)) / 2]; }

  void cover(Instant from, Instant to, std::uint32_t owner) {
    const std::uint32_t end = slot(to);
    for (std::uint32_t each = find(slot(from) + 1); each < end; each = find(each)) {
      owner_[each] = owner;
      next_[each] = each + 1;
    }
  }

  // Who covers the instant; kNone: nobody.
  [[nodiscard]] std::uint32_t owner(Instant when) const { return owner_[slot(when)]; }

 private:
  [[nodiscard]] std::uint32_t slot(Instant when) const {
    return static_cast<std::uint32_t>(2 * (std::ranges::lower_bound(instants_, when) - instants_.begin()));
  }
  std::uint32_t find(std::uint32_t each) {
    while (next_[each] != each) {
      next_[each] = next_[next_[each]];
      each = next_[each];
    }
    return each;
  }

  std::vector<Instant> instants_;
  Numbers next_;
  Numbers owner_;
};

class PriorityQueue {
 public:
  PriorityQueue(Operations operations, const Items& items, const Limits& limits)
      : operations_(operations), items_(items), limits_(limits), time_(all_instants()) {}

  std::optional<Quick> decide() {
    if (!items_.unknown.empty()) return std::nullopt;
    by_value_.resize(items_.items.size());
    std::iota(by_value_.begin(), by_value_.end(), 0U);
    std::ranges::sort(by_value_, {}, [this](std::uint32_t i) { return value(i); });
    gone_.assign(items_.items.size(), kNever);
    if (limits_.reached()) return Quick{out_of_time()};
    for (const std::uint32_t i : by_value_) {
      const Item& item = items_.items[i];
      if (item.extract != kNone) {
        gone_[i] = time_.free_from(item.extract_call);
        if (gone_[i] > item.extract_ret) return out_of_turn(i);
      }
      if (item.insert_ret < gone_[i]) time_.cover(item.insert_ret, gone_[i], i);
    }
    Quick quick;
    for (const std::uint32_t number : items_.empties) {
      const Instant when = time_.free_from(operations_[number].call);
      if (when > operations_[number].ret) return empty_in_between(number);
      empty_at_.push_back(when);
    }
    if (limits_.reached()) return Quick{out_of_time()};
    if (limits_.witness) quick.decision.witness = in_order();
    return quick;
  }

 private:
  [[nodiscard]] std::int64_t value(std::uint32_t item) const { return operations_[items_.items[item].insert].argument; }

  [[nodiscard]] std::vector<Instant> all_instants() const {
    std::vector<Instant> instants = {kNever};
    instants.reserve(2 * items_.items.size() + items_.empties.size() + 1);
    for (const Item& item : items_.items) {
      instants.push_back(item.insert_ret);
      instants.push_back(item.extract_call);
    }
    for (const std::uint32_t number : items_.empties) instants.push_back(operations_[number].call);
    return instants;
  }

  // Those that keep the time from `from` to `to` covered, and those who made them stay so long, and so on.
  Numbers responsible(Instant from, Instant to) {
    std::vector<bool> known(items_.items.size());
    Numbers result;
    const auto ask = [&](Instant when, Instant end) {
      while (when <= end) {
        const std::uint32_t owner = time_.owner(when);
        if (owner == kNone) break;
        if (!known[owner]) result.push_back(owner);
        known[owner] = true;
        when = gone_[owner];
        if (when == kNever) break;
      }
    };
    ask(from, to);
    for (std::size_t k = 0; k < result.size(); ++k) {
      const Item& item = items_.items[result[k]];
      if (item.extract != kNone) ask(item.extract_call, gone_[result[k]] - 1);
    }
    return result;
  }

  Quick out_of_turn(std::uint32_t late) {
    const Item& item = items_.items[late];
    Quick quick;
    quick.decision = violation("priority-order",
                               in_words(value(late)) + " came out although a smaller value was inside all the time",
                               item.extract_call, item.extract_ret);
    Numbers some = responsible(item.extract_call, item.extract_ret);
    some.push_back(late);
    if (limits_.minimal_core) {
      some = fewest_items(items_, some, [this](const Items& fewer) { return impossible(fewer); });
    }
    quick.decision.core = core_of_items(operations_, items_, some, item.extract_ret);
    return quick;
  }

  Quick empty_in_between(std::uint32_t number) {
    const Operation& empty = operations_[number];
    Quick quick;
    quick.decision = violation("empty-while-inside", "the priority queue was found empty while something was inside",
                               empty.call, empty.ret);
    Numbers some = responsible(empty.call, empty.ret);
    if (limits_.minimal_core) {
      some = fewest_items(items_, some, [&](Items fewer) {
        fewer.empties = {number};
        return impossible(fewer);
      });
    }
    quick.decision.core = core_of_empty(operations_, items_, number, some);
    return quick;
  }

  [[nodiscard]] bool impossible(const Items& fewer) const {
    Limits limits;
    limits.witness = false;
    limits.minimal_core = false;
    const std::optional<Quick> quick = PriorityQueue(operations_, fewer, limits).decide();
    return quick && quick->decision.answer == Answer::violation;
  }

  // At one instant: first those go that were inside before, the least first; then values that are inside for no time at
  // all; then it may be empty; then others come.
  Numbers in_order() {
    struct Step {
      Instant when;
      std::uint8_t turn;
      std::int64_t value;
      std::uint32_t first;
      std::uint32_t second;
    };
    std::vector<Step> steps;
    steps.reserve(2 * items_.items.size() + items_.empties.size());
    for (std::uint32_t i = 0; i < items_.items.size(); ++i) {
      const Item& item = items_.items[i];
      if (item.insert_ret >= gone_[i]) {
        steps.push_back({gone_[i], 1, value(i), item.insert, item.extract});
        continue;
      }
      steps.push_back({item.insert_ret, 3, value(i), item.insert, kNone});
      if (item.extract != kNone) steps.push_back({gone_[i], 0, value(i), item.extract, kNone});
    }
    for (std::size_t k = 0; k < items_.empties.size(); ++k) {
      steps.push_back({empty_at_[k], 2, 0, items_.empties[k], kNone});
    }
    std::ranges::sort(steps, {}, [](const Step& step) { return std::tuple(step.when, step.turn, step.value); });
    Numbers witness;
    witness.reserve(operations_.size());
    for (const Step& step : steps) {
      witness.push_back(step.first);
      if (step.second != kNone) witness.push_back(step.second);
    }
    return witness;
  }

  Operations operations_;
  const Items& items_;
  const Limits& limits_;
  CoveredTime time_;
  Numbers by_value_;
  std::vector<Instant> gone_;  // when each item is taken out
  std::vector<Instant> empty_at_;
};

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  const QuickDecider quick = [](const Promise&, Operations some, const Items& items, const Limits& within) {
    return PriorityQueue(some, items, within).decide();
  };
  return decide_items(promise, operations, quick, limits);
}

}  // namespace

Decision decide_priority_queue(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
