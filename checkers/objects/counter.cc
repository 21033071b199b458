#include "checkers/objects/counter.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <queue>

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::size_t kLook = 1U << 16U;  // returns between two looks at the clock

class Counter {
 public:
  Counter(const Promise& promise, Operations operations, const Limits& limits)
      : operations_(operations),
        limits_(limits),
        initial_(promise.initial == kNothing ? 0 : promise.initial),
        count_(initial_),
        done_(operations.size()),
        next_read_(operations.size(), kNone) {}

  Decision decide() {
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (!operations_[i].unknown()) by_return_.push_back(i);
    }
    std::ranges::sort(by_return_, {}, [this](std::uint32_t i) { return operations_[i].ret; });
    for (std::size_t k = 0; k < by_return_.size(); ++k) {
      if (k % kLook == 0 && limits_.reached()) return out_of_time();
      const std::uint32_t returning = by_return_[k];
      call_until(operations_[returning].ret);
      if (done_[returning]) continue;
      if (operations_[returning].f == Call::increment) {
        increment(returning);
        continue;
      }
      if (count_ > operations_[returning].result) return too_many(returning);
      while (count_ < operations_[returning].result) {
        while (!under_way_.empty() && done_[under_way_.top().second]) under_way_.pop();
        if (under_way_.empty()) return too_few(returning);
        increment(under_way_.top().second);
      }
    }
    Decision decision;
    if (limits_.witness) decision.witness = std::move(witness_);
    return decision;
  }

 private:
  void call_until(Instant when) {
    for (; called_ < operations_.size() && operations_[called_].call <= when; ++called_) {
      const auto number = static_cast<std::uint32_t>(called_);
      const Operation& operation = operations_[called_];
      if (operation.f == Call::increment) {
        under_way_.emplace(operation.ret, number);
      } else if (operation.unknown()) {
        continue;
      } else if (operation.result == count_) {
        happen(number);
      } else {
        const auto [place, fresh] = reads_.try_emplace(operation.result, number);
        if (!fresh) next_read_[number] = std::exchange(place->second, number);
      }
    }
  }

  void happen(std::uint32_t number) {
    done_[number] = true;
    if (limits_.witness) witness_.push_back(number);
  }

  void increment(std::uint32_t number) {
    happen(number);
    ++count_;
    const auto place = reads_.find(count_);
    if (place == reads_.end()) return;
    for (std::uint32_t read = place->second; read != kNone; read = next_read_[read]) happen(read);
    reads_.erase(place);
  }

  Decision too_few(std::uint32_t read) {
    const Operation& operation = operations_[read];
    Decision decision = violation("count-too-high",
                                  "only " + std::to_string(count_ - initial_) +
                                      " increments had been asked for when it returned " + in_words(operation.result),
                                  operation.call, operation.ret);
    decision.core = {read};
    return decision;
  }

  Decision too_many(std::uint32_t read) {
    const Operation& operation = operations_[read];
    Decision decision = violation(
        "count-too-low", "more had certainly been counted than the " + in_words(operation.result) + " read last",
        operation.call, operation.ret);
    decision.core = since_a_read(read);
    return decision;
  }

  // Looks for an earlier read that, with the increments that certainly came between the two, says more than this one;
  // the latest such read. The beginning counts as a read of the initial value. Empty: it is not as simple as that.
  [[nodiscard]] Numbers since_a_read(std::uint32_t last) const {
    const Operation& read = operations_[last];
    Numbers increments;  // returned before, the last called first
    Numbers reads;       // returned before, the last returned first
    for (auto number = static_cast<std::uint32_t>(called_); number-- > 0;) {
      const Operation& operation = operations_[number];
      if (operation.unknown() || operation.ret >= read.call) continue;
      (operation.f == Call::increment ? increments : reads).push_back(number);
    }
    std::ranges::sort(reads, std::greater{}, [this](std::uint32_t i) { return operations_[i].ret; });
    std::size_t between = 0;
    const auto core = [&](std::int64_t from) {
      return Numbers(increments.begin(), increments.begin() + std::max<std::int64_t>(0, read.result + 1 - from));
    };
    for (const std::uint32_t earlier : reads) {
      const Operation& before = operations_[earlier];
      while (between < increments.size() && operations_[increments[between]].call > before.ret) ++between;
      if (before.result + static_cast<std::int64_t>(between) <= read.result) continue;
      Numbers result = core(before.result);
      result.push_back(earlier);
      result.push_back(last);
      return result;
    }
    if (initial_ + static_cast<std::int64_t>(increments.size()) <= read.result) return {};
    Numbers result = core(initial_);
    result.push_back(last);
    return result;
  }

  Operations operations_;
  const Limits& limits_;
  std::int64_t initial_;
  std::int64_t count_;
  std::size_t called_ = 0;
  std::vector<bool> done_;
  Numbers next_read_;  // a chain of reads under way with the same result
  Numbers by_return_;
  Numbers witness_;
  using Returning = std::pair<Instant, std::uint32_t>;
  std::priority_queue<Returning, std::vector<Returning>, std::greater<>> under_way_;  // increments, first return first
  boost::unordered_flat_map<std::int64_t, std::uint32_t> reads_;                      // under way, by result
};

Decision quick(const Promise& promise, Operations operations, const Limits& limits) {
  return Counter(promise, operations, limits).decide();
}

// The last operations before the contradiction, twice as many each time, until they are enough for it.
Numbers enough(const Promise& promise, Operations operations, const Decision& decision, const Limits& limits) {
  Numbers obligations;  // the latest return first
  for (std::uint32_t i = 0; i < operations.size() && operations[i].call <= decision.to; ++i) {
    if (!operations[i].unknown() && operations[i].ret <= decision.to) obligations.push_back(i);
  }
  std::ranges::sort(obligations, std::greater{}, [&](std::uint32_t i) { return operations[i].ret; });
  for (std::size_t count = 8; count < obligations.size(); count *= 2) {
    const Numbers last(obligations.begin(), obligations.begin() + static_cast<std::ptrdiff_t>(count));
    if (contradictory(promise, operations, last, quick, limits)) return last;
  }
  return obligations;
}

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  bool by_one = true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if ((operation.f != Call::read && operation.f != Call::increment) || operation.refused()) {
      refuse_operation(promise, i, operation);
    }
    by_one = by_one && (operation.f == Call::read || operation.argument == kNothing || operation.argument == 1);
  }
  if (!by_one) {
    Decision decision = search(promise, operations, limits);
    decision.searched = operations.size();
    return decision;
  }
  Decision decision = quick(promise, operations, limits);
  if (decision.answer != Answer::violation) return decision;
  if (decision.core.empty()) decision.core = enough(promise, operations, decision, limits);
  conclude(decision, promise, operations, decision.core, quick, limits);
  return decision;
}

}  // namespace

Decision decide_counter(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
