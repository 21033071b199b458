#include "checkers/objects/queue.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "checkers/objects/items.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
// When an unknown extract comes back: not in this history, but it does take something out.
constexpr Instant kAlmostNever = kNever - 1;

// By when one who was put in by `when` must be gone: the earliest end among those that begin after it.
class Deadlines {
 public:
  // Windows in the order of their begin.
  void add(Instant begin, Instant end, std::uint32_t who) { windows_.push_back({begin, end, who}); }
  void finish() {
    for (std::size_t i = windows_.size(); i-- > 1;) {
      if (windows_[i].end < windows_[i - 1].end) {
        windows_[i - 1].end = windows_[i].end;
        windows_[i - 1].who = windows_[i].who;
      }
    }
  }
  // (kNever, kNone) when there is none.
  [[nodiscard]] std::pair<Instant, std::uint32_t> after(Instant when) const {
    const auto next = std::ranges::upper_bound(windows_, when, {}, &Window::begin);
    return next == windows_.end() ? std::pair{kNever, kNone} : std::pair{next->end, next->who};
  }

 private:
  struct Window {
    Instant begin;
    Instant end;  // after finish(): the earliest of this and all later ones
    std::uint32_t who;
  };
  std::vector<Window> windows_;
};

// An order of windows pairs (insert, extract) that keeps both real-time orders. Whoever can come first now comes first:
// nothing that is left was put in, or came out, before it.
class ValueOrder {
 public:
  explicit ValueOrder(const std::vector<Item>& items) : items_(items) {
    by_insert_call_ = sorted(&Item::insert_call);
    by_insert_ret_ = sorted(&Item::insert_ret);
    by_extract_call_ = sorted(&Item::extract_call);
    by_extract_ret_ = sorted(&Item::extract_ret);
  }

  Numbers find() {
    Numbers order;
    order.reserve(items_.size());
    std::vector<std::uint8_t> gates(items_.size());  // of the two that must open
    std::vector<bool> placed(items_.size());
    Numbers ready;
    std::size_t insert = 0;
    std::size_t extract = 0;
    std::size_t first_insert = 0;
    std::size_t first_extract = 0;
    const auto open = [&](const Numbers& by_call, std::size_t& next, Instant Item::* call, Instant until) {
      for (; next < by_call.size() && items_[by_call[next]].*call <= until; ++next) {
        if (++gates[by_call[next]] == 2) ready.push_back(by_call[next]);
      }
    };
    while (order.size() < items_.size()) {
      while (placed[by_insert_ret_[first_insert]]) ++first_insert;
      while (placed[by_extract_ret_[first_extract]]) ++first_extract;
      open(by_insert_call_, insert, &Item::insert_call, items_[by_insert_ret_[first_insert]].insert_ret);
      open(by_extract_call_, extract, &Item::extract_call, items_[by_extract_ret_[first_extract]].extract_ret);
      if (ready.empty()) throw std::logic_error("two values of a queue are in each other's way");  // checked before
      order.push_back(ready.back());
      placed[ready.back()] = true;
      ready.pop_back();
    }
    return order;
  }

 private:
  [[nodiscard]] Numbers sorted(Instant Item::* when) const {
    std::vector<std::pair<Instant, std::uint32_t>> keys(items_.size());
    for (std::uint32_t i = 0; i < items_.size(); ++i) keys[i] = {items_[i].*when, i};
    if (!std::ranges::is_sorted(keys)) std::ranges::sort(keys);
    Numbers result(items_.size());
    for (std::size_t i = 0; i < keys.size(); ++i) result[i] = keys[i].second;
    return result;
  }

  const std::vector<Item>& items_;
  Numbers by_insert_call_;
  Numbers by_insert_ret_;
  Numbers by_extract_call_;
  Numbers by_extract_ret_;
};

class Queue {
 public:
  Queue(Operations operations, const Items& items, const Limits& limits)
      : operations_(operations), items_(items), limits_(limits) {}

  std::optional<Quick> decide() {
    if (!check_order() || !check_lost()) return fault_;
    if (limits_.reached()) return Quick{out_of_time()};
    if (!place_empties()) {
      if (!items_.unknown.empty()) return std::nullopt;
      return fault_;
    }
    Quick quick;
    if (limits_.reached()) return Quick{out_of_time()};
    if (limits_.witness) quick.decision.witness = in_order();
    return quick;
  }

 private:
  // A value that nobody extracted, and by when it must be gone.
  struct Lost {
    Instant deadline;
    std::uint32_t item;
    std::uint32_t because;  // the extract
  };

  bool check_lost() {
    Deadlines deadlines;
    for (const Item& item : items_.items) {
      if (item.extract != kNone) deadlines.add(item.insert_call, item.extract_ret, item.extract);
    }
    deadlines.finish();
    if (!count_lost(deadlines, true)) return false;
    if (items_.empties.empty()) return true;
    Deadlines with_empties;
    std::size_t next = 0;
    const auto add_empties = [&](Instant until) {
      for (; next < items_.empties.size() && operations_[items_.empties[next]].call <= until; ++next) {
        const Operation& empty = operations_[items_.empties[next]];
        with_empties.add(empty.call, empty.ret, items_.empties[next]);
      }
    };
    for (const Item& item : items_.items) {
      if (item.extract == kNone) continue;
      add_empties(item.insert_call);
      with_empties.add(item.insert_call, item.extract_ret, item.extract);
    }
    add_empties(kNever);
    with_empties.finish();
    return count_lost(with_empties, false);
  }

  // Gives each lost value an unknown extract; the earliest to the one that must go first.
  bool count_lost(const Deadlines& deadlines, bool without_empties) {
    std::vector<Lost> lost;
    for (std::uint32_t i = 0; i < items_.items.size(); ++i) {
      if (items_.items[i].extract != kNone) continue;
      const auto [deadline, because] = deadlines.after(items_.items[i].insert_ret);
      if (because != kNone) lost.push_back({deadline, i, because});
    }
    std::ranges::sort(lost, {}, &Lost::deadline);
    helped_.clear();
    for (std::size_t k = 0; k < lost.size(); ++k) {
      const bool helped = k < items_.unknown.size() && operations_[items_.unknown[k]].call <= lost[k].deadline;
      if (!helped) return fail_lost(lost, k, without_empties);
      helped_.emplace_back(lost[k].item, items_.unknown[k]);
    }
    return true;
  }

  bool fail_lost(const std::vector<Lost>& lost, std::size_t last, bool without_empties) {
    const Instant deadline = lost[last].deadline;
    Numbers core;
    for (std::size_t k = 0; k <= last; ++k) {
      core.push_back(items_.items[lost[k].item].insert);
      core.push_back(lost[k].because);
    }
    add_extracts(operations_, deadline, core);
    const Item& item = items_.items[lost[last].item];
    const std::string name = in_words(operations_[item.insert].argument);
    const bool by_empty = operations_[lost[last].because].result == kNothing;
    fault_.decision = violation(by_empty ? "empty-while-inside" : "queue-order",
                                name + " was put in and nobody took it out, yet " +
                                    (by_empty ? "the queue was found empty" : "what was put in later came out"),
                                item.insert_ret, deadline);
    fault_.decision.core = core;
    // Every extract that is not in the core could have taken the value; every one in the core is needed to exclude
    // that. With empties there may be another way out.
    fault_.minimal = without_empties || last == 0;
    return false;
  }

  bool check_order() {
    Numbers by_ret(items_.items.size());
    std::iota(by_ret.begin(), by_ret.end(), 0U);
    const auto ret = [&](std::uint32_t number) { return items_.items[number].insert_ret; };
    if (!std::ranges::is_sorted(by_ret, {}, ret)) std::ranges::sort(by_ret, {}, ret);
    std::uint32_t last = kNone;  // of those put in before, the one that came out last
    std::size_t next = 0;
    for (const Item& item : items_.items) {  // by call of the insert
      for (; next < by_ret.size() && ret(by_ret[next]) < item.insert_call; ++next) {
        const Item& before = items_.items[by_ret[next]];
        if (before.extract == kNone) continue;
        if (last == kNone || before.extract_call > items_.items[last].extract_call) last = by_ret[next];
      }
      if (item.extract == kNone || last == kNone) continue;
      const Item& before = items_.items[last];
      if (before.extract_call <= item.extract_ret) continue;
      fault_.decision = violation("queue-order",
                                  in_words(operations_[before.insert].argument) + " was put in before " +
                                      in_words(operations_[item.insert].argument) + " but came out after it",
                                  item.extract_ret, before.extract_call);
      fault_.decision.core = {before.extract, item.extract};
      if (!operations_[before.insert].unknown()) fault_.decision.core.push_back(before.insert);
      return false;
    }
    return true;
  }

  bool place_empties() {
    items_and_empties_ = items_.items;
    for (const auto& [item, extract] : helped_) {
      Item& gone = items_and_empties_[item];
      gone.extract = extract;
      gone.extract_call = std::max(gone.insert_call, operations_[extract].call);
      gone.extract_ret = kAlmostNever;
    }
    if (items_.empties.empty()) return true;
    std::vector<Cover::Stretch> stretches;
    for (std::uint32_t i = 0; i < items_and_empties_.size(); ++i) {
      stretches.push_back({items_and_empties_[i].insert_ret, items_and_empties_[i].extract_call, i});
    }
    const Cover cover(std::move(stretches));
    for (const std::uint32_t number : items_.empties) {
      const Operation& empty = operations_[number];
      const Instant when = cover.free_from(empty.call);
      if (when > empty.ret) {
        fault_.decision = violation("empty-while-inside", "the queue was found empty while something was inside",
                                    empty.call, empty.ret);
        fault_.decision.core = core_of_empty(operations_, items_, number, cover.chain(empty.call, empty.ret));
        return false;
      }
      // In the order of values "empty" is a value that goes in and out at that instant.
      items_and_empties_.push_back({when, when, when, when, kNone, number});
    }
    return true;
  }

  Numbers in_order() {
    const Numbers order = ValueOrder(items_and_empties_).find();
    // Everything as early as the order allows; inserts and extracts in the order of values, merged by time. At one
    // instant the earlier value's come first.
    Numbers witness;
    witness.reserve(operations_.size());
    Instant inserted = std::numeric_limits<Instant>::min();
    Instant extracted = std::numeric_limits<Instant>::min();
    std::size_t out = 0;
    const auto take_out = [&](Instant before, std::size_t end) {
      for (; out < end; ++out) {
        const Item& item = items_and_empties_[order[out]];
        if (item.extract == kNone) continue;
        if (std::max(extracted, item.extract_call) > before) return;
        extracted = std::max(extracted, item.extract_call);
        witness.push_back(item.extract);
      }
    };
    for (std::size_t in = 0; in < order.size(); ++in) {
      const Item& item = items_and_empties_[order[in]];
      inserted = std::max(inserted, item.insert_call);
      take_out(inserted, in);
      if (item.insert != kNone) witness.push_back(item.insert);
    }
    take_out(kNever, order.size());
    return witness;
  }

  Operations operations_;
  const Items& items_;
  const Limits& limits_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> helped_;  // (item, unknown extract)
  std::vector<Item> items_and_empties_;
  Quick fault_;
};

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  const QuickDecider quick = [](const Promise&, Operations some, const Items& items, const Limits& within) {
    return Queue(some, items, within).decide();
  };
  return decide_items(promise, operations, quick, limits);
}

}  // namespace

Decision decide_queue(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
