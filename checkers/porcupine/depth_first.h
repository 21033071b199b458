// Depth-first search with a memo (Wing & Gong 1993, Lowe 2017, Horn & Kroening 2015), with sets relative to the
// window: everything that returned before the next return is done, so a node is (place of that return, which of the
// pending operations are done, unknown operations used, state). Only nodes that failed are remembered; a straight way
// to the end costs no memo at all.
//
// Order: what is due first, then what brings about what is due, then by return; unknown operations last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checkers/porcupine/budget.h"
#include "checkers/porcupine/config.h"

namespace holdfast::porcupine {

template <class Space, std::size_t W>
class DepthFirst {
 public:
  using Conf = typename Space::Conf;

  template <class Facts>
  DepthFirst(const Facts& facts, const Timeline& timeline, Budget& budget)
      : timeline_(&timeline), space_(facts, timeline), account_(budget), index_(1024, 0), now_(space_.start()) {}

  // Goes on for about `work` moves.
  Status advance(std::uint64_t work) {
    for (std::uint64_t i = 0; i < work; ++i) {
      if ((ticks_++ & 63U) == 0 && !within_budget()) return status_;
      if (!move()) return status_;
    }
    return Status::running;
  }

  [[nodiscard]] std::uint32_t proven() const { return deepest_; }  // all returns before this place can be met
  [[nodiscard]] std::uint64_t configurations() const { return moves_; }
  [[nodiscard]] const Trail& path() const { return path_; }

 private:
  struct Frame {
    Conf conf;
    std::uint32_t place = 0;
    std::uint32_t tried = 0;
    std::uint32_t path_length = 0;
  };
  struct Failed {
    Conf conf;
    std::uint32_t place = 0;
  };

  // One node entered or one failed; false when it is over.
  bool move() {
    if (!entering_) return try_next();
    if (!arrive()) return true;
    entering_ = false;
    if (space_.window().at_end()) return end(Status::ok);
    if (has_failed()) return back();
    stack_.push_back({now_, space_.window().place(), 0, static_cast<std::uint32_t>(path_.size())});
    return try_next();
  }

  // On to the next return of an operation that is not done. False: not there yet, but time to look at the budget.
  bool arrive() {
    for (int events = 0; !space_.window().at_end(); ++events) {
      const std::uint32_t place = space_.window().place();
      deepest_ = std::max(deepest_, place);
      if (events == 64) return false;
      const std::uint32_t number = timeline_->op_at(place);
      if (!timeline_->is_return(place)) {
        space_.forward();
        if (timeline_->op(number).eager) space_.called(now_, number, path_);
        continue;
      }
      if (!now_.done.test(timeline_->op(number).slot)) space_.settle(now_, path_);
      if (!now_.done.test(timeline_->op(number).slot)) return true;
      space_.marks().release(now_.done, number);
      space_.forward();
    }
    deepest_ = space_.window().place();
    return true;
  }

  bool try_next() {
    Frame& frame = stack_.back();
    const std::uint32_t due = timeline_->op_at(frame.place);
    space_.candidates(frame.conf, due, candidates_);
    for (; frame.tried < candidates_.size(); ++moves_) {
      const std::uint32_t candidate = candidates_[frame.tried++];
      now_ = frame.conf;
      path_.resize(frame.path_length);
      const bool legal = (candidate & kUnknownUse) != 0 ? space_.try_unknown(now_, candidate & ~kUnknownUse, path_)
                                                        : space_.try_op(now_, candidate, path_);
      if (!legal) continue;
      entering_ = true;
      return true;
    }
    if (!remember(frame)) return end(Status::out_of_memory);
    stack_.pop_back();
    return back();
  }

  // To the last node that has something left to try.
  bool back() {
    if (stack_.empty()) return end(Status::illegal);
    while (space_.window().place() > stack_.back().place) space_.backward();
    return true;
  }

  [[nodiscard]] std::uint64_t hash(const Conf& conf, std::uint32_t place) const {
    return conf.done.hash(space_.hash(conf.state) + mix((std::uint64_t{place} << 32U) | conf.usage));
  }
  [[nodiscard]] std::size_t find(const Conf& conf, std::uint32_t place) const {
    std::size_t at = hash(conf, place) & (index_.size() - 1);
    for (; index_[at] != 0; at = (at + 1) & (index_.size() - 1)) {
      const Failed& other = failed_[index_[at] - 1];
      if (other.place == place && other.conf.usage == conf.usage && other.conf.done == conf.done &&
          other.conf.state == conf.state) {
        break;
      }
    }
    return at;
  }
  [[nodiscard]] bool has_failed() const { return index_[find(now_, space_.window().place())] != 0; }
  bool remember(const Frame& frame) {
    if (failed_.size() == failed_.capacity() && !account_.affords(failed_.capacity() * sizeof(Failed) * 2))
      return false;
    if ((failed_.size() + 1) * 2 > index_.size()) {
      if (!account_.affords(index_.size() * 8)) return false;
      index_.assign(index_.size() * 2, 0);
      for (std::size_t i = 0; i < failed_.size(); ++i) {
        index_[find(failed_[i].conf, failed_[i].place)] = static_cast<std::uint32_t>(i + 1);
      }
    }
    const std::size_t at = find(frame.conf, frame.place);
    if (index_[at] != 0) return true;
    failed_.push_back({frame.conf, frame.place});
    index_[at] = static_cast<std::uint32_t>(failed_.size());
    return true;
  }

  bool within_budget() {
    account_.set(space_.bytes() + stack_.capacity() * sizeof(Frame) + failed_.capacity() * sizeof(Failed) +
                 index_.capacity() * 4 + path_.capacity() * 4);
    if (account_.out_of_time()) return end(Status::out_of_time);
    const bool grows = stack_.size() + 256 > stack_.capacity();
    if (!account_.affords(grows ? stack_.capacity() * sizeof(Frame) * 2 : 0)) return end(Status::out_of_memory);
    return true;
  }
  bool end(Status status) {
    status_ = status;
    return false;
  }

  const Timeline* timeline_;
  Space space_;
  Account account_;
  std::vector<Frame> stack_;
  std::vector<Failed> failed_;
  std::vector<std::uint32_t> index_;  // open addressing: 1 + place in failed_
  std::vector<std::uint32_t> candidates_;
  Trail path_;
  Conf now_;
  std::uint32_t deepest_ = 0;
  std::uint64_t moves_ = 0;
  std::uint32_t ticks_ = 0;
  bool entering_ = true;
  Status status_ = Status::running;
};

}  // namespace holdfast::porcupine
