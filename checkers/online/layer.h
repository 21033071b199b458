// The ways in which the past may have gone, for EngineMonitor: state, which pending operations have taken effect, and
// how many of each class of unknown ones. Of two that agree in state and pending operations the one that has used fewer
// unknown ones can do whatever the other can, so the other is left out.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "checkers/porcupine/bits.h"
#include "checkers/porcupine/model.h"

namespace holdfast::online {

using Counts = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // class, how many; by class

inline std::uint32_t count_of(const Counts& counts, std::uint32_t cls) {
  const auto place = std::ranges::lower_bound(counts, cls, {}, &Counts::value_type::first);
  return place != counts.end() && place->first == cls ? place->second : 0;
}
inline void add_count(Counts& counts, std::uint32_t cls) {
  const auto place = std::ranges::lower_bound(counts, cls, {}, &Counts::value_type::first);
  if (place != counts.end() && place->first == cls) {
    ++place->second;
  } else {
    counts.insert(place, {cls, 1});
  }
}

template <class State>
struct LayerConfig {
  State state;
  std::vector<std::uint64_t> done;  // sorted
  Counts used;

  [[nodiscard]] bool has_done(std::uint64_t id) const { return std::ranges::binary_search(done, id); }
  void mark(std::uint64_t id) { done.insert(std::ranges::lower_bound(done, id), id); }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = sizeof(*this) + done.capacity() * sizeof(done[0]) + used.capacity() * sizeof(used[0]) + 32;
    if constexpr (requires { state.capacity() * sizeof(state[0]); }) sum += state.capacity() * sizeof(state[0]);
    return sum;
  }
};

template <porcupine::Model M>
class LayerSet {
 public:
  using Conf = LayerConfig<typename M::State>;
  explicit LayerSet(const M& model) : model_(&model) {}

  // False: another one makes it superfluous.
  bool add(Conf conf) {
    std::uint64_t hash = porcupine::mix(model_->hash(conf.state));
    for (const std::uint64_t id : conf.done) hash = porcupine::mix(hash ^ id) + 1;
    const auto [first, fresh] = first_.try_emplace(hash, kEnd);
    for (std::size_t each = first->second; each != kEnd; each = next_[each]) {
      Conf& other = items_[each];
      if (!(other.state == conf.state) || other.done != conf.done) continue;
      if (within(other.used, conf.used)) return false;
      if (within(conf.used, other.used)) {
        bytes_ += conf.bytes() - other.bytes();
        other = std::move(conf);
        return true;
      }
    }
    bytes_ += conf.bytes() + 48;
    items_.push_back(std::move(conf));
    next_.push_back(first->second);
    first->second = items_.size() - 1;
    return true;
  }
  [[nodiscard]] std::vector<Conf>& items() { return items_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kEnd = SIZE_MAX;
  static bool within(const Counts& few, const Counts& many) {
    return std::ranges::all_of(few, [&](const auto& each) { return count_of(many, each.first) >= each.second; });
  }

  const M* model_;
  std::vector<Conf> items_;
  std::vector<std::size_t> next_;  // with the same hash
  boost::unordered_flat_map<std::uint64_t, std::size_t> first_;
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::online
