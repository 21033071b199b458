// How many unknown operations of each class a configuration has used. Few configurations differ in it, so it is a
// number of a table; number 0 has used none. Each search has a table of its own.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "checkers/porcupine/bits.h"

namespace holdfast::porcupine {

class UsageTable {
 public:
  using Counts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // class, how many; by class

  UsageTable() : entries_(1) {}

  [[nodiscard]] std::uint32_t count(std::uint32_t usage, std::uint32_t cls) const {
    const Counts& counts = entries_[usage].counts;
    const auto place = std::ranges::lower_bound(counts, cls, {}, &Counts::value_type::first);
    return place != counts.end() && place->first == cls ? place->second : 0;
  }
  [[nodiscard]] std::uint32_t total(std::uint32_t usage) const { return entries_[usage].total; }

  // The usage after one more operation of the class.
  std::uint32_t add(std::uint32_t usage, std::uint32_t cls) {
    const std::uint64_t step = (std::uint64_t{usage} << 32U) | cls;
    if (const auto known = steps_.find(step); known != steps_.end()) return known->second;
    Counts counts = entries_[usage].counts;
    const auto place = std::ranges::lower_bound(counts, cls, {}, &Counts::value_type::first);
    if (place != counts.end() && place->first == cls) {
      ++place->second;
    } else {
      counts.insert(place, {cls, 1});
    }
    const std::uint32_t result = number_of(std::move(counts));
    steps_.emplace(step, result);
    return result;
  }

  // The usage with this count of the class.
  std::uint32_t set(std::uint32_t usage, std::uint32_t cls, std::uint32_t value) {
    Counts counts = entries_[usage].counts;
    const auto place = std::ranges::lower_bound(counts, cls, {}, &Counts::value_type::first);
    if (place != counts.end() && place->first == cls) {
      place->second = value;
    } else {
      counts.insert(place, {cls, value});
    }
    return number_of(std::move(counts));
  }

  // The usage without the classes that `over` names: whether they were used makes no difference any more.
  template <class Over>
  std::uint32_t without(std::uint32_t usage, const Over& over) {
    const Counts& counts = entries_[usage].counts;
    const auto gone = [&over](const auto& each) { return over(each.first); };
    if (std::ranges::none_of(counts, gone)) return usage;
    Counts rest;
    std::ranges::remove_copy_if(counts, std::back_inserter(rest), gone);
    return number_of(std::move(rest));
  }

  // a has used no more of any class than b.
  [[nodiscard]] bool within(std::uint32_t a, std::uint32_t b) const {
    if (a == b || a == 0) return true;
    if (entries_[a].total > entries_[b].total) return false;
    const Counts& mine = entries_[a].counts;
    const Counts& other = entries_[b].counts;
    auto place = other.begin();
    for (const auto& [cls, used] : mine) {
      while (place != other.end() && place->first < cls) ++place;
      if (place == other.end() || place->first != cls || place->second < used) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_ + steps_.bucket_count() * 18; }

 private:
  struct Entry {
    Counts counts;
    std::uint32_t total = 0;
    std::uint32_t next = 0;  // with the same hash; 0: none
  };

  std::uint32_t number_of(Counts counts) {
    if (counts.empty()) return 0;
    std::uint64_t hash = 0;
    std::uint32_t total = 0;
    for (const auto& [cls, used] : counts) {
      hash = mix(hash ^ ((std::uint64_t{cls} << 32U) | used)) + 1;
      total += used;
    }
    std::uint32_t& first = by_hash_[hash];
    for (std::uint32_t each = first; each != 0; each = entries_[each].next) {
      if (entries_[each].counts == counts) return each;
    }
    const auto number = static_cast<std::uint32_t>(entries_.size());
    bytes_ += sizeof(Entry) * 2 + counts.size() * sizeof(Counts::value_type) + 36;
    entries_.push_back({std::move(counts), total, first});
    first = number;
    return number;
  }

  std::vector<Entry> entries_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> by_hash_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> steps_;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::porcupine
