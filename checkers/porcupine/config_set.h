// ConfigSet: configurations of one layer without those that another one makes superfluous. Two are comparable when
// state and changing operations agree; then the one that has done more reads and used fewer unknown operations can do
// whatever the other can. PathStore: how each configuration came to be, shared where their pasts agree and freed with
// the last configuration that needs it; in the end about 12 bytes for each operation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkers/porcupine/config.h"

namespace holdfast::porcupine {

template <class Space, std::size_t W>
class ConfigSet {
 public:
  using Conf = typename Space::Conf;
  enum class Added { fresh, replaced, superfluous };

  explicit ConfigSet(Space& space) : space_(&space), index_(64, 0) {}

  [[nodiscard]] std::vector<Conf>& items() { return items_; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return items_.capacity() * sizeof(Conf) + (next_.capacity() + index_.capacity() + used_.capacity()) * 4;
  }
  void clear() {
    for (const std::uint32_t at : used_) index_[at] = 0;
    used_.clear();
    items_.clear();
    next_.clear();
  }
  // `gone` is the path of the one that was replaced.
  Added add(const Conf& conf, std::uint32_t& gone) {
    if ((used_.size() + 1) * 2 > index_.size()) grow();
    const std::size_t at = place_of(conf);
    if (index_[at] == 0) used_.push_back(static_cast<std::uint32_t>(at));
    for (std::uint32_t each = index_[at]; each != 0; each = next_[each - 1]) {
      Conf& other = items_[each - 1];
      if (better(other, conf)) return Added::superfluous;
      if (better(conf, other)) {
        gone = other.path;
        other = conf;
        return Added::replaced;
      }
    }
    items_.push_back(conf);
    next_.push_back(index_[at]);
    index_[at] = static_cast<std::uint32_t>(items_.size());
    return Added::fresh;
  }

 private:
  [[nodiscard]] bool better(const Conf& a, const Conf& b) const {
    return !b.done.beyond(a.done) && space_->usage().within(a.usage, b.usage);
  }
  [[nodiscard]] std::size_t place_of(const Conf& conf) const {
    const Bits<W> changes = conf.done.minus(space_->eager_slots());
    std::size_t at = changes.hash(space_->hash(conf.state)) & (index_.size() - 1);
    for (; index_[at] != 0; at = (at + 1) & (index_.size() - 1)) {
      const Conf& other = items_[index_[at] - 1];
      if (other.state == conf.state && other.done.minus(space_->eager_slots()) == changes) break;
    }
    return at;
  }
  void grow() {
    std::vector<std::uint32_t> heads;
    for (const std::uint32_t at : used_) heads.push_back(index_[at]);
    index_.assign(index_.size() * 2, 0);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::size_t at = place_of(items_[heads[i] - 1]);
      index_[at] = heads[i];
      used_[i] = static_cast<std::uint32_t>(at);
    }
  }

  Space* space_;
  std::vector<Conf> items_;
  std::vector<std::uint32_t> next_;   // of the same group: 1 + place in items_
  std::vector<std::uint32_t> index_;  // open addressing by group
  std::vector<std::uint32_t> used_;
};

class PathStore {
 public:
  std::uint32_t extend(std::uint32_t path, std::span<const std::uint32_t> trail) {
    share(path);
    for (const std::uint32_t what : trail) {
      std::uint32_t node = free_;
      if (node != 0) {
        free_ = nodes_[node].before;
      } else {
        node = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      nodes_[node] = {path, what, 1};
      path = node;
    }
    return path;
  }
  void share(std::uint32_t path) { ++nodes_[path].users; }
  void drop(std::uint32_t path) {
    while (path != 0 && --nodes_[path].users == 0) {
      const std::uint32_t before = nodes_[path].before;
      nodes_[path].before = free_;
      free_ = path;
      path = before;
    }
  }
  [[nodiscard]] Trail trail(std::uint32_t path) const {
    Trail result;
    for (; path != 0; path = nodes_[path].before) result.push_back(nodes_[path].what);
    return {result.rbegin(), result.rend()};
  }
  [[nodiscard]] std::size_t bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  struct Node {
    std::uint32_t before = 0;
    std::uint32_t what = 0;
    std::uint32_t users = 0;
  };
  std::vector<Node> nodes_ = std::vector<Node>(1);  // 0: nothing has happened
  std::uint32_t free_ = 0;
};

}  // namespace holdfast::porcupine
