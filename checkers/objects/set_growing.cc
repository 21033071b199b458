#include <algorithm>
#include <limits>

#include "checkers/objects/set_parts.h"
#include "checkers/objects/value_index.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr Instant kBeginning = std::numeric_limits<Instant>::min();

struct Element {
  Instant call = kNever;  // the first call of an add
  Instant ret = kNever;   // the first return of an add
  std::uint32_t called = kNone;
  std::uint32_t returned = kNone;
  std::uint32_t first_seen = kNone;  // stage of the first read that saw it
};

// All reads of the same set.
struct Stage {
  std::uint32_t set = 0;
  Numbers reads;
};

class Growing {
 public:
  Growing(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits), index_(make_index()) {}

  Decision decide() {
    find_adds();
    if (!order_reads()) return fault_;
    if (limits_.reached()) return out_of_time();
    if (!place_all()) return fault_;
    Decision decision;
    if (limits_.witness) decision.witness = in_order(std::move(placed_));
    return decision;
  }

 private:
  ValueIndex make_index() {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    for (const Operation& operation : operations_) {
      if (operation.f == Call::add) widen(operation.argument, least, greatest);
    }
    return {least, greatest, operations_.size()};
  }

  void find_adds() {
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.f != Call::add) continue;
      const std::uint32_t number = index_.add(operation.argument);
      if (number == elements_.size()) elements_.emplace_back();
      Element& element = elements_[number];
      if (element.called == kNone) {  // sorted by call
        element.called = i;
        element.call = operation.call;
      }
      if (operation.ret < element.ret) {
        element.ret = operation.ret;
        element.returned = i;
      }
    }
  }

  // Reads by the number of the set that they saw.
  [[nodiscard]] std::vector<Stage> group_reads() const {
    ValueIndex stage_of_set(0, static_cast<std::int64_t>(promise_.sets.size()) - 1, operations_.size());
    std::vector<Stage> stages;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.f != Call::read || operation.unknown()) continue;
      const std::uint32_t stage = stage_of_set.add(operation.result);
      if (stage == stages.size()) stages.push_back({static_cast<std::uint32_t>(operation.result), {}});
      stages[stage].reads.push_back(i);
    }
    return stages;
  }

  bool order_reads() {
    std::vector<Stage> stages = group_reads();
    std::vector<Numbers> seen(stages.size());
    for (std::size_t k = 0; k < stages.size(); ++k) {
      if (!number_elements(stages[k], seen[k])) return false;
    }
    Numbers by_size(stages.size());
    for (std::uint32_t k = 0; k < stages.size(); ++k) by_size[k] = k;
    std::ranges::stable_sort(by_size, {}, [&](std::uint32_t k) { return seen[k].size(); });
    Numbers last_in(elements_.size(), kNone);  // the last of by_size that holds the element
    for (std::uint32_t rank = 0; rank < by_size.size(); ++rank) {
      const Numbers& now = seen[by_size[rank]];
      for (const std::uint32_t element : now) last_in[element] = rank;
      if (rank > 0 && !includes(seen[by_size[rank - 1]], last_in, rank)) {
        return fail_chain(stages_.back().reads.front(), stages[by_size[rank]].reads.front());
      }
      if (rank > 0 && now.size() == seen[by_size[rank - 1]].size()) {  // the same set under another number
        Numbers& reads = stages_.back().reads;
        reads.insert(reads.end(), stages[by_size[rank]].reads.begin(), stages[by_size[rank]].reads.end());
        continue;
      }
      for (const std::uint32_t element : now) {
        if (elements_[element].first_seen == kNone) {
          elements_[element].first_seen = static_cast<std::uint32_t>(stages_.size());
        }
      }
      stages_.push_back(std::move(stages[by_size[rank]]));
    }
    for (Stage& stage : stages_) std::ranges::sort(stage.reads);
    return true;
  }

  // The different elements that a stage saw, as numbers.
  bool number_elements(const Stage& stage, Numbers& numbers) {
    for (const std::int64_t value : promise_.sets[stage.set]) {
      const std::uint32_t number = index_.find(value);
      if (number == kNone) {
        const Operation& read = operations_[stage.reads.front()];
        fault_ = violation("found-from-nowhere", "nobody ever added " + in_words(value), read.call, read.ret);
        fault_.core = {stage.reads.front()};
        return false;
      }
      numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
    return true;
  }

  static bool includes(const Numbers& smaller, const Numbers& last_in, std::uint32_t rank) {
    return std::ranges::all_of(smaller, [&](std::uint32_t element) { return last_in[element] == rank; });
  }

  bool fail_chain(std::uint32_t one, std::uint32_t other) {
    fault_ =
        violation("reads-disagree", "each saw something that the other one did not see, but nothing is ever removed",
                  std::min(operations_[one].call, operations_[other].call),
                  std::max(operations_[one].ret, operations_[other].ret));
    fault_.core = {one, other};
    return false;
  }

  // Elements and reads in the order of stages; those that nobody saw come last.
  bool place_all() {
    std::vector<Numbers> fresh(stages_.size() + 1);
    for (std::uint32_t i = 0; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (element.first_seen != kNone) {
        fresh[element.first_seen].push_back(i);
      } else if (element.returned != kNone) {
        fresh.back().push_back(i);
      }
    }
    for (std::uint32_t k = 0; k <= stages_.size(); ++k) {
      const Instant before = latest_;
      const std::uint32_t caller = caller_;
      for (const std::uint32_t element : fresh[k]) {
        if (!place_element(elements_[element], before, caller)) return false;
        if (elements_[element].call > latest_) {
          latest_ = elements_[element].call;
          caller_ = k < stages_.size() ? stages_[k].reads.front() : kNone;  // who says that it was there by then
        }
      }
      if (k < stages_.size() && !place_reads(stages_[k])) return false;
      turn_ += 2;
    }
    place_other_adds();
    return true;
  }

  bool place_element(Element& element, Instant before, std::uint32_t caller) {
    if (element.ret < before) return fail_order(element.returned, element.ret, caller, before);
    element.call = std::max(element.call, before);
    placed_.push_back({element.call, turn_, element.called});
    return true;
  }

  bool place_reads(const Stage& stage) {
    const Instant before = latest_;
    const std::uint32_t caller = caller_;
    for (const std::uint32_t number : stage.reads) {
      const Operation& read = operations_[number];
      if (read.ret < before) return fail_order(number, read.ret, caller, before);
      placed_.push_back({std::max(read.call, before), turn_ + 1, number});
      if (read.call > latest_) {
        latest_ = read.call;
        caller_ = number;
      }
    }
    return true;
  }

  bool fail_order(std::uint32_t early, Instant returned, std::uint32_t late, Instant called) {
    if (operations_[early].f == Call::add) {
      fault_ = violation("lost-element", in_words(operations_[early].argument) + " had been added but was not seen",
                         returned, called);
    } else {
      fault_ = violation("stale-read", "what was seen earlier had not been added yet, or is missing later", returned,
                         called);
    }
    fault_.core = {early, late};
    return false;
  }

  // Adding an element again changes nothing.
  void place_other_adds() {
    if (!limits_.witness) return;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.f != Call::add || !operation.ok()) continue;
      const Element& element = elements_[index_.find(operation.argument)];
      if (element.called != i) placed_.push_back({std::max(operation.call, element.call), turn_, i});
    }
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  ValueIndex index_;
  std::vector<Element> elements_;
  std::vector<Stage> stages_;
  std::vector<Placed> placed_;
  Instant latest_ = kBeginning;   // the last call so far
  std::uint32_t caller_ = kNone;  // who is at its word for that
  std::uint32_t turn_ = 0;
  Decision fault_;
};

}  // namespace

Decision decide_growing_set(const Promise& promise, Operations operations, const Limits& limits) {
  return Growing(promise, operations, limits).decide();
}

}  // namespace holdfast::objects
