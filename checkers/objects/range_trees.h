// Two trees over the numbers 0 … n-1, each operation O(log n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::objects {

// A key for each number; finds the least in a range. 16 bytes for each number.
class LeastInRange {
 public:
  static constexpr std::int64_t kGone = std::numeric_limits<std::int64_t>::max();

  explicit LeastInRange(std::vector<std::int64_t> keys) : keys_(std::move(keys)), winners_(2 * keys_.size()) {
    const std::size_t size = keys_.size();
    for (std::size_t i = 0; i < size; ++i) winners_[size + i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = size; i-- > 1;) winners_[i] = better(winners_[2 * i], winners_[2 * i + 1]);
  }
  void set(std::uint32_t number, std::int64_t key) {
    keys_[number] = key;
    for (std::size_t i = (keys_.size() + number) / 2; i > 0; i /= 2) {
      winners_[i] = better(winners_[2 * i], winners_[2 * i + 1]);
    }
  }
  // The number in [from, to) with the least key; kNone when all are gone.
  [[nodiscard]] std::uint32_t least(std::size_t from, std::size_t to) const {
    std::uint32_t best = kNone;
    for (from += keys_.size(), to += keys_.size(); from < to; from /= 2, to /= 2) {
      if (from % 2 == 1) best = better(best, winners_[from++]);
      if (to % 2 == 1) best = better(best, winners_[--to]);
    }
    return best == kNone || keys_[best] == kGone ? kNone : best;
  }
  [[nodiscard]] std::int64_t key(std::uint32_t number) const { return keys_[number]; }

 private:
  [[nodiscard]] std::uint32_t better(std::uint32_t one, std::uint32_t other) const {
    if (one == kNone) return other;
    return other == kNone || keys_[one] <= keys_[other] ? one : other;
  }

  std::vector<std::int64_t> keys_;
  std::vector<std::uint32_t> winners_;
};

// A count for each number; adds to ranges and finds the first that is zero. Counts must not become negative. 8 to 16
// bytes for each number.
class CountsInRanges {
 public:
  explicit CountsInRanges(const std::vector<std::int32_t>& counts) {
    while (size_ < counts.size()) size_ *= 2;
    least_.assign(2 * size_, 1);
    added_.assign(2 * size_, 0);
    std::copy(counts.begin(), counts.end(), least_.begin() + static_cast<std::ptrdiff_t>(size_));
    for (std::size_t i = size_; i-- > 1;) least_[i] = std::min(least_[2 * i], least_[2 * i + 1]);
  }
  void add(std::size_t from, std::size_t to, std::int32_t change) { add(1, 0, size_, from, to, change); }
  // In [from, to); `to` when there is none.
  [[nodiscard]] std::size_t first_zero(std::size_t from, std::size_t to) const {
    return std::min(to, first_zero(1, 0, size_, from, to, 0));
  }

 private:
  void add(std::size_t node, std::size_t begin, std::size_t end, std::size_t from, std::size_t to,
           std::int32_t change) {
    if (to <= begin || end <= from) return;
    if (from <= begin && end <= to) {
      least_[node] += change;
      added_[node] += change;
      return;
    }
    const std::size_t middle = (begin + end) / 2;
    add(2 * node, begin, middle, from, to, change);
    add(2 * node + 1, middle, end, from, to, change);
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) + added_[node];
  }
  [[nodiscard]] std::size_t first_zero(std::size_t node, std::size_t begin, std::size_t end, std::size_t from,
                                       std::size_t to, std::int32_t above) const {
    if (to <= begin || end <= from || least_[node] + above > 0) return std::numeric_limits<std::size_t>::max();
    if (end - begin == 1) return begin;
    const std::size_t middle = (begin + end) / 2;
    above += added_[node];
    const std::size_t left = first_zero(2 * node, begin, middle, from, to, above);
    return left < to ? left : first_zero(2 * node + 1, middle, end, from, to, above);
  }

  std::size_t size_ = 1;
  std::vector<std::int32_t> least_;  // of the part below, with everything added there or here
  std::vector<std::int32_t> added_;  // to all of the part below
};

}  // namespace holdfast::objects
