// One value for each owner (process or hold): a plain table where the numbers are dense, a hash map otherwise.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::objects {

template <typename Value>
class OwnerTable {
 public:
  OwnerTable(const Promise& promise, Operations operations, Value initial)
      : by_hold_(promise.identity == Identity::hold), initial_(initial) {
    std::uint32_t greatest = 0;
    for (const Operation& operation : operations) greatest = std::max(greatest, owner(operation));
    if (greatest < operations.size() * 4 + 1024) dense_.assign(greatest + std::size_t{1}, initial);
  }
  Value& of(const Operation& operation) { return at(owner(operation)); }
  Value& at(std::uint32_t owner) {
    return dense_.empty() ? sparse_.try_emplace(owner, initial_).first->second : dense_[owner];
  }

 private:
  [[nodiscard]] std::uint32_t owner(const Operation& operation) const {
    return by_hold_ ? operation.hold : operation.process;
  }
  bool by_hold_;
  Value initial_;
  std::vector<Value> dense_;
  boost::unordered_flat_map<std::uint32_t, Value> sparse_;
};

}  // namespace holdfast::objects
