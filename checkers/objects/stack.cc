#include "checkers/objects/stack.h"

#include <algorithm>
#include <numeric>

#include "checkers/objects/items.h"
#include "checkers/objects/range_trees.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;

bool has_core(const Item& item) {
  return item.insert_ret < item.extract_call;
}

// Takes components apart. Time is divided into slots: instant k of `instants` is slot 2k, the open gap behind it is
// slot 2k+1. A core covers the slots strictly inside it.
class Peeling {
 public:
  struct Step {  // a push or pop in the order found
    Instant when;
    std::uint32_t item;
    bool push;
    bool outermost;
  };

  explicit Peeling(const std::vector<Item>& items)
      : items_(items),
        cored_(sorted_cores()),
        instants_(all_instants()),
        starts_(slots_of(&Item::insert_ret)),
        ends_(slots_of(&Item::extract_call)),
        early_(keys(&Item::insert_call, 1)),
        late_(keys(&Item::extract_ret, -1)),
        bottoms_(std::vector<std::int64_t>(cored_.size(), LeastInRange::kGone)),
        cover_(covered()) {}

  // False: `stuck` holds the items of a component in which nobody can lie at the bottom.
  bool peel(bool collect) {
    collect_ = collect;
    open_parts(0, 2 * instants_.size(), true);
    while (!work_.empty()) {
      const Work work = work_.back();
      work_.pop_back();
      if (work.pop != kNone) {
        note(work.pop, false, work.when, work.outermost);
        continue;
      }
      if (!peel_one(work)) return false;
    }
    return true;
  }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const Numbers& stuck() const { return stuck_; }

 private:
  struct Work {
    std::size_t from = 0;  // slots of a component
    std::size_t to = 0;
    std::uint32_t pop = kNone;  // or: the bottom value goes
    Instant when = 0;
    bool outermost = false;
  };

  [[nodiscard]] Numbers sorted_cores() const {
    Numbers result;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (has_core(items_[i])) result.push_back(i);
    }
    std::ranges::sort(result, {}, [this](std::uint32_t i) { return items_[i].insert_ret; });
    return result;
  }

  [[nodiscard]] std::vector<Instant> all_instants() const {
    std::vector<Instant> result;
    result.reserve(2 * cored_.size());
    for (const std::uint32_t i : cored_) {
      result.push_back(items_[i].insert_ret);
      result.push_back(items_[i].extract_call);
    }
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    return result;
  }

  [[nodiscard]] Numbers slots_of(Instant Item::* when) const {
    Numbers result(cored_.size());
    for (std::size_t k = 0; k < cored_.size(); ++k) {
      const auto place = std::ranges::lower_bound(instants_, items_[cored_[k]].*when) - instants_.begin();
      result[k] = static_cast<std::uint32_t>(2 * place);
    }
    return result;
  }

  [[nodiscard]] std::vector<std::int64_t> keys(Instant Item::* when, std::int64_t sign) const {
    std::vector<std::int64_t> result(cored_.size());
    // kNever itself would be "gone".
    for (std::size_t k = 0; k < cored_.size(); ++k) result[k] = sign * std::min(items_[cored_[k]].*when, kNever - 1);
    return result;
  }

  [[nodiscard]] std::vector<std::int32_t> covered() const {
    std::vector<std::int32_t> result(2 * instants_.size() + 1);
    for (std::size_t k = 0; k < cored_.size(); ++k) {
      ++result[starts_[k] + 1];
      --result[ends_[k]];
    }
    std::partial_sum(result.begin(), result.end(), result.begin());
    return result;
  }

  // Puts the components of these slots on the work list so that the first comes first.
  void open_parts(std::size_t from, std::size_t to, bool outermost) {
    const std::size_t before = work_.size();
    while (from < to) {
      const std::size_t zero = cover_.first_zero(from, to);
      if (zero > from) work_.push_back({.from = from, .to = zero, .outermost = outermost});
      from = zero + 1;
    }
    std::reverse(work_.begin() + static_cast<std::ptrdiff_t>(before), work_.end());
  }

  bool peel_one(const Work& work) {
    const Instant first = instants_[(work.from - 1) / 2];
    const Instant last = instants_[(work.to) / 2];
    const auto place = [this](std::size_t slot) {
      return static_cast<std::size_t>(std::ranges::lower_bound(starts_, slot) - starts_.begin());
    };
    const std::size_t begin = place(work.from - 1);
    const std::size_t end = place(work.to);
    open_gate(early_, begin, end, first);
    open_gate(late_, begin, end, -std::min(last, kNever - 1));
    const std::uint32_t bottom = bottoms_.least(begin, end);
    if (bottom == kNone) {
      for (std::size_t k = begin; k < end; ++k) {
        if (!gone(k)) stuck_.push_back(cored_[k]);
      }
      return false;
    }
    bottoms_.set(bottom, LeastInRange::kGone);
    gates_[bottom] = kPeeled;
    note(bottom, true, first, work.outermost);
    work_.push_back({.pop = bottom, .when = last, .outermost = work.outermost});
    cover_.add(starts_[bottom] + 1, ends_[bottom], -1);
    open_parts(work.from, work.to, false);
    return true;
  }

  // Those in [begin, end) whose key is at most `limit` may now lie at the bottom as far as this gate is concerned.
  void open_gate(LeastInRange& gate, std::size_t begin, std::size_t end, std::int64_t limit) {
    if (gates_.empty()) gates_.resize(cored_.size());
    for (std::uint32_t k = gate.least(begin, end); k != kNone && gate.key(k) <= limit; k = gate.least(begin, end)) {
      gate.set(k, LeastInRange::kGone);
      if (++gates_[k] == 2) bottoms_.set(k, 0);
    }
  }

  [[nodiscard]] bool gone(std::size_t k) const { return gates_[k] == kPeeled; }

  void note(std::uint32_t k, bool push, Instant when, bool outermost) {
    if (collect_) steps_.push_back({when, cored_[k], push, outermost});
  }

  static constexpr std::uint8_t kPeeled = 3;
  const std::vector<Item>& items_;
  Numbers cored_;  // those with a core, by its begin
  std::vector<Instant> instants_;
  Numbers starts_;
  Numbers ends_;
  LeastInRange early_;    // by when the push may happen
  LeastInRange late_;     // until when the pop may happen, negated
  LeastInRange bottoms_;  // 0: both are wide enough
  CountsInRanges cover_;
  std::vector<std::uint8_t> gates_;
  std::vector<Work> work_;
  std::vector<Step> steps_;
  Numbers stuck_;
  bool collect_ = false;
};

class Stack {
 public:
  Stack(Operations operations, const Items& items, const Limits& limits)
      : operations_(operations), items_(items), limits_(limits) {}

  std::optional<Quick> decide() {
    if (!items_.unknown.empty()) return std::nullopt;
    Peeling peeling(items_.items);
    if (limits_.reached()) return Quick{out_of_time()};
    if (!peeling.peel(limits_.witness)) return crossed(peeling.stuck());
    if (!place_empties()) return fault_;
    if (limits_.reached()) return Quick{out_of_time()};
    Quick quick;
    if (limits_.witness) quick.decision.witness = in_order(peeling.steps());
    return quick;
  }

 private:
  // Some of the values must cross: each was put on top of another one and went after it.
  Quick crossed(const Numbers& stuck) {
    Quick quick;
    Instant from = kNever;
    Instant to = 0;
    for (const std::uint32_t number : stuck) {
      from = std::min(from, items_.items[number].insert_ret);
      to = std::max(to, items_.items[number].extract_call == kNever ? from : items_.items[number].extract_call);
    }
    quick.decision = violation(
        "stack-order", "whichever value lay below the others, one that came later had to go after it", from, to);
    Numbers fewest = stuck;
    if (limits_.minimal_core) {
      fewest = fewest_items(items_, stuck, [](const Items& fewer) { return !Peeling(fewer.items).peel(false); });
    }
    quick.decision.core = core_of_items(operations_, items_, fewest, kNever);
    return quick;
  }

  bool place_empties() {
    if (items_.empties.empty()) return true;
    std::vector<Cover::Stretch> stretches;
    for (std::uint32_t i = 0; i < items_.items.size(); ++i) {
      stretches.push_back({items_.items[i].insert_ret, items_.items[i].extract_call, i});
    }
    const Cover cover(std::move(stretches));
    for (const std::uint32_t number : items_.empties) {
      const Operation& empty = operations_[number];
      const Instant when = cover.free_from(empty.call);
      if (when > empty.ret) {
        fault_.decision = violation("empty-while-inside", "the stack was found empty while something was inside",
                                    empty.call, empty.ret);
        fault_.decision.core = core_of_empty(operations_, items_, number, cover.chain(empty.call, empty.ret));
        return false;
      }
      others_.push_back({when, number, kNone, true});
    }
    return true;
  }

  // Values without a core at one instant each, empties between outermost components, and the steps of the peeling.
  Numbers in_order(const std::vector<Peeling::Step>& steps) {
    for (const Item& item : items_.items) {
      if (!has_core(item))
        others_.push_back({std::max(item.insert_call, item.extract_call), item.insert, item.extract, false});
    }
    std::ranges::stable_sort(others_, {}, &Other::when);
    Numbers witness;
    witness.reserve(operations_.size());
    auto other = others_.begin();
    for (const Peeling::Step& step : steps) {
      // At one instant outermost pops come before an "empty", and that before outermost pushes.
      for (; other != others_.end() &&
             (other->when < step.when || (other->when == step.when && step.push && step.outermost));
           ++other) {
        put(witness, *other);
      }
      const Item& item = items_.items[step.item];
      if (step.push) {
        witness.push_back(item.insert);
      } else if (item.extract != kNone) {
        witness.push_back(item.extract);
      }
    }
    for (; other != others_.end(); ++other) put(witness, *other);
    return witness;
  }

  struct Other {
    Instant when;
    std::uint32_t first;
    std::uint32_t second;
    bool empty;
  };

  static void put(Numbers& witness, const Other& other) {
    witness.push_back(other.first);
    if (other.second != kNone) witness.push_back(other.second);
  }

  Operations operations_;
  const Items& items_;
  const Limits& limits_;
  std::vector<Other> others_;
  Quick fault_;
};

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  const QuickDecider quick = [](const Promise&, Operations some, const Items& items, const Limits& within) {
    return Stack(some, items, within).decide();
  };
  return decide_items(promise, operations, quick, limits);
}

}  // namespace

Decision decide_stack(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
