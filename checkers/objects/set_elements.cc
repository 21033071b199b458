#include <algorithm>
#include <limits>
#include <span>

#include "checkers/objects/set_parts.h"
#include "checkers/objects/value_index.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr Instant kBeginning = std::numeric_limits<Instant>::min();
constexpr std::size_t kLook = 1U << 16U;  // elements between two looks at the clock

// What happens to an element at one instant, in this order.
enum Turn : std::uint32_t { kMissedBefore, kAdded, kFound, kRemoved, kMissedAfter };

// One element that is inside for one stretch of time at most.
class Element {
 public:
  Element(Operations operations, std::span<const std::uint32_t> members) : operations_(operations), members_(members) {}

  // False: it is added several times and removed, which is not decided here.
  bool look() {
    std::size_t adds = 0;
    std::size_t removes = 0;
    for (const std::uint32_t number : members_) {
      const Operation& operation = operations_[number];
      if (operation.f == Call::add) {
        if (adds++ == 0) add_ = number;  // the earliest call
        if (operation.ok()) must_add_ = true;
        prove_inside_by(operation.ret, number);
      } else if (operation.f == Call::remove && !operation.refused()) {
        ++removes;
        if (operation.ok()) {
          (remove_ == kNone ? remove_ : second_remove_) = number;
          prove_inside_by(operation.ret, number);
        } else if (unknown_remove_ == kNone) {
          unknown_remove_ = number;  // the earliest
        }
      } else if (operation.f == Call::contains && operation.ok() && operation.result != 0) {
        must_add_ = true;
        if (some_proof_ == kNone) some_proof_ = number;
        prove_inside_by(operation.ret, number);
        if (operation.call > latest_found_) {
          latest_found_ = operation.call;
          latest_finder_ = number;
        }
      }
    }
    must_add_ = must_add_ || remove_ != kNone;
    if (some_proof_ == kNone) some_proof_ = remove_;
    return adds <= 1 || removes == 0;
  }

  bool decide(Decision& fault) {
    if (!must_add_) return true;  // it was never inside
    const std::string name = in_words(operations_[members_.front()].argument);
    if (add_ == kNone) {
      fault = violation("found-from-nowhere", "nobody ever added " + name, operations_[some_proof_].call,
                        operations_[some_proof_].ret);
      fault.core = {some_proof_};
      return false;
    }
    if (second_remove_ != kNone) {
      fault = violation("removed-twice", name + " was added only once", operations_[remove_].call,
                        operations_[second_remove_].ret);
      fault.core = {remove_, second_remove_};
      return false;
    }
    const Instant asked = operations_[add_].call;
    if (inside_by_ < asked) {
      fault = violation("found-before-add", name + " was there before its add was even asked for", inside_by_, asked);
      fault.core = {inside_proof_};
      return false;
    }
    const std::uint32_t last = remove_ != kNone ? remove_ : unknown_remove_;
    removed_ = last == kNone ? kNever : std::max({operations_[last].call, latest_found_, asked});
    if (remove_ != kNone && removed_ > operations_[remove_].ret) {
      fault = violation("found-after-remove", name + " was found after it had been removed", operations_[remove_].ret,
                        removed_);
      fault.core = {remove_, latest_finder_ == kNone ? remove_ : latest_finder_};
      return false;
    }
    added_ = std::min(inside_by_, removed_);
    return check_missed(name, fault);
  }

  // Appends all that took effect.
  void place(std::vector<Placed>& placed) const {
    for (const std::uint32_t number : members_) {
      const Operation& operation = operations_[number];
      if (missed(operation)) {
        const bool before = !must_add_ || operation.call <= added_;
        placed.push_back({before ? operation.call : std::max(operation.call, removed_),
                          before ? kMissedBefore : kMissedAfter, number});
      } else if (number == add_ && must_add_) {
        placed.push_back({added_, kAdded, number});
      } else if (operation.ok() && operation.f != Call::remove) {
        placed.push_back({std::max(operation.call, added_), kFound, number});
      } else if (number == remove_ || (number == unknown_remove_ && remove_ == kNone && must_add_)) {
        placed.push_back({removed_, kRemoved, number});
      }
    }
  }

 private:
  // An ok operation that did not find the element.
  static bool missed(const Operation& operation) {
    return operation.refused() || (operation.f == Call::contains && operation.ok() && operation.result == 0);
  }

  void prove_inside_by(Instant when, std::uint32_t number) {
    if (when >= inside_by_) return;
    inside_by_ = when;
    inside_proof_ = number;
  }

  bool check_missed(const std::string& name, Decision& fault) const {
    for (const std::uint32_t number : members_) {
      const Operation& operation = operations_[number];
      if (!missed(operation) || operation.call <= added_ || operation.ret >= removed_) continue;
      fault = violation("missed-while-inside", name + " was certainly inside when it was not found", operation.call,
                        operation.ret);
      fault.core = {number, inside_proof_};
      if (remove_ != kNone) fault.core.push_back(remove_);
      if (latest_finder_ != kNone) fault.core.push_back(latest_finder_);
      return false;
    }
    return true;
  }

  Operations operations_;
  std::span<const std::uint32_t> members_;
  std::uint32_t add_ = kNone;
  std::uint32_t remove_ = kNone;
  std::uint32_t second_remove_ = kNone;
  std::uint32_t unknown_remove_ = kNone;
  std::uint32_t some_proof_ = kNone;
  bool must_add_ = false;
  Instant inside_by_ = kNever;
  std::uint32_t inside_proof_ = kNone;
  Instant latest_found_ = kBeginning;
  std::uint32_t latest_finder_ = kNone;
  Instant added_ = 0;
  Instant removed_ = kNever;
};

// Operations by element.
struct Grouped {
  Numbers begin;
  Numbers members;
};

Grouped group(Operations operations) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (const Operation& operation : operations) {
    if (operation.f != Call::read) widen(operation.argument, least, greatest);
  }
  ValueIndex index(least, greatest, operations.size());
  Numbers element(operations.size(), kNone);
  Grouped grouped;
  grouped.begin.push_back(0);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool idle = operations[i].unknown() && operations[i].f == Call::contains;
    if (operations[i].f == Call::read || idle) continue;
    element[i] = index.add(operations[i].argument);
    if (element[i] + 2 > grouped.begin.size()) grouped.begin.resize(element[i] + 2);
    ++grouped.begin[element[i] + 1];
  }
  for (std::size_t i = 1; i < grouped.begin.size(); ++i) grouped.begin[i] += grouped.begin[i - 1];
  Numbers next = grouped.begin;
  grouped.members.resize(grouped.begin.back());
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (element[i] != kNone) grouped.members[next[element[i]]++] = i;
  }
  return grouped;
}

}  // namespace

Decision decide_elements(const Promise& promise, Operations operations, const Limits& limits) {
  const Grouped grouped = group(operations);
  Decision decision;
  std::vector<Placed> placed;
  for (std::size_t i = 0; i + 1 < grouped.begin.size(); ++i) {
    if (i % kLook == 0 && limits.reached()) return out_of_time();
    const std::span members(grouped.members.data() + grouped.begin[i], grouped.begin[i + 1] - grouped.begin[i]);
    Element element(operations, members);
    if (element.look()) {
      Decision fault;
      if (!element.decide(fault)) return fault;
      if (limits.witness) element.place(placed);
      continue;
    }
    Decision found = search_some(promise, operations, {members.begin(), members.end()}, limits);
    decision.searched += found.searched;
    if (found.answer != Answer::linearizable) {
      found.rule = "no-order";
      if (found.answer == Answer::violation) {
        found.because =
            "no order of adds and removes explains what was seen of " + in_words(operations[members.front()].argument);
      }
      return found;
    }
    Instant latest = kBeginning;
    for (std::uint32_t turn = 0; turn < found.witness.size() && limits.witness; ++turn) {
      latest = std::max(latest, operations[found.witness[turn]].call);
      placed.push_back({latest, turn, found.witness[turn]});
    }
  }
  if (limits.witness) decision.witness = in_order(std::move(placed));
  return decision;
}

}  // namespace holdfast::objects
