// Just-in-time linearization in layers (Lowe 2017): all configurations that explain everything up to an event, event
// by event. A return asks of each configuration that the operation has taken effect; those where it has not try every
// order of other pending operations before it. The layer that becomes empty is the first event nothing explains.
//
// Iterative widening: at first at most 16 configurations are kept. Reaching the end proves linearizability whatever was
// left out; an empty layer proves a violation only if nothing was. Otherwise again, four times as wide, from the last
// layer that was complete.
//
// Memory: the widest layer, plus 12 bytes per operation for the witness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checkers/porcupine/budget.h"
#include "checkers/porcupine/config.h"
#include "checkers/porcupine/config_set.h"

namespace holdfast::porcupine {

template <class Space, std::size_t W>
class Layered {
 public:
  using Conf = typename Space::Conf;

  template <class Facts>
  Layered(const Facts& facts, const Timeline& timeline, Budget& budget, bool want_paths)
      : timeline_(&timeline),
        space_(facts, timeline),
        account_(budget),
        next_(space_),
        seen_(space_),
        want_paths_(want_paths) {
    layer_.push_back(space_.start());
  }

  // Goes on for about `work` moves.
  Status advance(std::uint64_t work) {
    const std::uint64_t until = moves_ + work;
    while (status_ == Status::running && moves_ < until) {
      if (space_.window().at_end()) {
        status_ = Status::ok;
      } else {
        event();
      }
    }
    return status_;
  }

  [[nodiscard]] std::uint32_t proven() const { return furthest_; }
  [[nodiscard]] std::uint64_t configurations() const { return moves_; }
  // Ok: a witness first. Illegal: ways to explain everything before the event that nothing explains.
  [[nodiscard]] std::vector<Trail> paths(std::size_t most) const {
    std::vector<Trail> result;
    for (const Conf& conf : layer_) {
      if (result.size() == most) break;
      result.push_back(paths_.trail(conf.path));
    }
    return result;
  }

 private:
  static constexpr std::size_t kFirstWidth = 16;

  void event() {
    const std::uint32_t place = space_.window().place();
    const std::uint32_t number = timeline_->op_at(place);
    ++moves_;
    if (timeline_->is_return(place)) {
      if (!linearize(number)) return;
    } else {
      space_.forward();
      if (timeline_->op(number).eager) {
        for (Conf& conf : layer_) {
          trail_.clear();
          space_.called(conf, number, trail_);
          if (!trail_.empty()) lengthen(conf);
        }
        moves_ += layer_.size();
      }
    }
    furthest_ = std::max(furthest_, space_.window().place());
    if ((ticks_++ & 127U) == 0) within_budget();
    if (space_.garbage()) collect_garbage();
  }

  // The operation returns: every configuration must have it done. False: none has, or the budget is spent.
  bool linearize(std::uint32_t number) {
    const std::uint32_t slot = timeline_->op(number).slot;
    cut_ = false;
    next_.clear();
    seen_.clear();
    frontier_.clear();
    for (const Conf& each : layer_) {
      Conf conf = each;
      trail_.clear();
      if (!conf.done.test(slot)) space_.settle(conf, trail_);
      if (want_paths_) conf.path = paths_.extend(each.path, trail_);
      (conf.done.test(slot) ? keep(conf, number) : frontier_.push_back(conf));
    }
    while (!frontier_.empty()) {
      if (next_.size() >= width_ * 2) {
        cut_ = true;
        for (const Conf& conf : frontier_) drop(conf);
        break;
      }
      if (!deepen(number)) return false;
    }
    if (next_.size() > width_) narrow(next_.items());
    if (cut_ && !cut_before_) {
      cut_before_ = true;
      complete_.swap(layer_);
      complete_at_ = space_.window().place();
    } else if (next_.size() > 0 || cut_before_) {
      for (const Conf& conf : layer_) drop(conf);
    }
    if (next_.size() == 0) return dead_end();
    layer_.swap(next_.items());
    space_.forward();
    return true;
  }

  // One more operation before the one that returns, in every way.
  bool deepen(std::uint32_t number) {
    const std::uint32_t slot = timeline_->op(number).slot;
    deeper_.clear();
    for (const Conf& conf : frontier_) {
      space_.candidates(conf, number, candidates_);
      for (const std::uint32_t candidate : candidates_) {
        Conf child = conf;
        trail_.clear();
        ++moves_;
        if ((++ticks_ & 127U) == 0 && !within_budget()) return false;
        const bool legal = (candidate & kUnknownUse) != 0 ? space_.try_unknown(child, candidate & ~kUnknownUse, trail_)
                                                          : space_.try_op(child, candidate, trail_);
        if (!legal) continue;
        if (child.done.test(slot)) {
          if (want_paths_) child.path = paths_.extend(conf.path, trail_);
          keep(child, number);
          continue;
        }
        child.path = 0;
        std::uint32_t gone = 0;
        if (seen_.add(child, gone) == ConfigSet<Space, W>::Added::superfluous) continue;
        if (want_paths_) child.path = paths_.extend(conf.path, trail_);
        deeper_.push_back(child);
      }
      drop(conf);
    }
    frontier_.swap(deeper_);
    if (frontier_.size() > width_) narrow(frontier_);
    return true;
  }

  // Owns conf.path from here on.
  void keep(Conf conf, std::uint32_t number) {
    space_.normalise(conf);
    space_.marks().release(conf.done, number);
    std::uint32_t gone = 0;
    switch (next_.add(conf, gone)) {
      case ConfigSet<Space, W>::Added::fresh:
        break;
      case ConfigSet<Space, W>::Added::replaced:
        if (want_paths_) paths_.drop(gone);
        break;
      case ConfigSet<Space, W>::Added::superfluous:
        drop(conf);
    }
  }

  // The fewest unknown operations first; otherwise in the order found, which is by return.
  void narrow(std::vector<Conf>& configs) {
    cut_ = true;
    if (timeline_->has_unknown()) {
      std::ranges::stable_sort(configs, {}, [this](const Conf& conf) { return space_.usage().total(conf.usage); });
    }
    for (std::size_t i = width_; i < configs.size(); ++i) drop(configs[i]);
    configs.resize(width_);
  }

  bool dead_end() {
    if (!cut_before_) {
      status_ = Status::illegal;
      return false;
    }
    width_ *= 4;
    cut_before_ = false;
    layer_.swap(complete_);
    complete_.clear();
    while (space_.window().place() > complete_at_) space_.backward();
    return false;
  }

  void lengthen(Conf& conf) {
    if (!want_paths_) return;
    const std::uint32_t before = conf.path;
    conf.path = paths_.extend(before, trail_);
    paths_.drop(before);
  }
  void drop(const Conf& conf) {
    if (want_paths_) paths_.drop(conf.path);
  }

  bool within_budget() {
    const std::size_t lists =
        (layer_.capacity() + frontier_.capacity() + deeper_.capacity() + complete_.capacity()) * sizeof(Conf);
    account_.set(space_.bytes() + next_.bytes() + seen_.bytes() + paths_.bytes() + lists);
    if (account_.out_of_time()) status_ = Status::out_of_time;
    const std::size_t largest = std::max({next_.bytes(), seen_.bytes(), paths_.bytes(),
                                          frontier_.capacity() * sizeof(Conf), deeper_.capacity() * sizeof(Conf)});
    if (!account_.affords(largest)) status_ = Status::out_of_memory;
    return status_ == Status::running;
  }

  void collect_garbage() {
    std::vector<Conf> alive = layer_;
    alive.insert(alive.end(), complete_.begin(), complete_.end());
    space_.collect_garbage(alive);
    std::copy_n(alive.begin(), layer_.size(), layer_.begin());
    std::copy(alive.begin() + static_cast<std::ptrdiff_t>(layer_.size()), alive.end(), complete_.begin());
  }

  const Timeline* timeline_;
  Space space_;
  Account account_;
  PathStore paths_;
  std::vector<Conf> layer_;
  ConfigSet<Space, W> next_;
  ConfigSet<Space, W> seen_;
  std::vector<Conf> frontier_;
  std::vector<Conf> deeper_;
  std::vector<Conf> complete_;  // the last layer of which nothing was left out
  std::uint32_t complete_at_ = 0;
  std::vector<std::uint32_t> candidates_;
  Trail trail_;
  std::size_t width_ = kFirstWidth;
  bool cut_ = false;
  bool cut_before_ = false;
  bool want_paths_;
  std::uint32_t furthest_ = 0;
  std::uint64_t moves_ = 0;
  std::uint32_t ticks_ = 0;
  Status status_ = Status::running;
};

}  // namespace holdfast::porcupine
