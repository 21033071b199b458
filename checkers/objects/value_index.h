// ValueIndex: numbers the different values of a history 0, 1, 2, … in the order in which they are first met. Values
// that lie close together (the usual case: a counter handed them out) are looked up in a plain table, others in a hash
// map. 4 bytes a value in the table, about 20 in the map; a constant time for each.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::objects {

class ValueIndex {
 public:
  // `least` and `greatest` bound the values met (kNothing aside); `expected` says about how many there will be.
  ValueIndex(std::int64_t least, std::int64_t greatest, std::size_t expected) {
    const std::uint64_t range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    if (least <= greatest && range < 4 * expected + 64) {
      least_ = least;
      table_.assign(range + 1, kNone);
    } else {
      map_.reserve(expected);
    }
  }

  std::uint32_t add(std::int64_t value) {
    std::uint32_t* const number = slot(value);
    if (number == nullptr) {
      const auto [place, fresh] = map_.try_emplace(value, count_);
      if (fresh) ++count_;
      return place->second;
    }
    if (*number == kNone) *number = count_++;
    return *number;
  }
  [[nodiscard]] std::uint32_t find(std::int64_t value) const {
    const std::uint32_t* const number = const_cast<ValueIndex*>(this)->slot(value);
    if (number != nullptr) return *number;
    const auto place = map_.find(value);
    return place == map_.end() ? kNone : place->second;
  }
  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  std::uint32_t* slot(std::int64_t value) {
    if (value == kNothing) return &nothing_;
    const std::uint64_t offset = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least_);
    return !table_.empty() && offset < table_.size() ? &table_[offset] : nullptr;
  }

  std::int64_t least_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t nothing_ = kNone;
  std::vector<std::uint32_t> table_;
  boost::unordered_flat_map<std::int64_t, std::uint32_t> map_;
};

// Widens [least, greatest] to hold `value`; kNothing has a place of its own.
inline void widen(std::int64_t value, std::int64_t& least, std::int64_t& greatest) {
  if (value == kNothing) return;
  least = std::min(least, value);
  greatest = std::max(greatest, value);
}

}  // namespace holdfast::objects
