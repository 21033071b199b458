// Timeline: the history as the searches see it. Operations are numbered by call; each that must be followed
// individually has a slot from its call to its return; slots are used again. Unknown operations need no slot: all of
// one class that have been called are interchangeable for ever, so a counter of how many were used says everything.
//
// Ordered sessions are different: there an unknown operation ends when a later one of its client takes effect. The
// unknown operations between two known ones of a client form a chain; how far a configuration has gone along it says
// everything, and the known operation after it closes it.
//
// Window: what is pending at one place of the timeline. It moves forwards and backwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "checkers/porcupine/model.h"

namespace holdfast::porcupine {

struct Request {
  Instant call = 0;
  Instant ret = kNever;
  std::uint32_t client = 0;
  std::uint32_t original = 0;
  std::uint32_t cls = 0;  // equal for operations that are equal in what they ask and answer
  bool known = true;
  bool read_only = false;
};

inline constexpr std::uint32_t kNoSlot = kNone;
inline constexpr std::uint32_t kNoEvent = kNone;

class Timeline {
 public:
  struct Op {
    std::uint32_t original = 0;
    std::uint32_t cls = 0;
    std::uint32_t slot = kNoSlot;
    std::uint32_t after = kNone;  // same client, same instant: must take effect before this one
    std::uint32_t chain = kNone;  // unknown, in an ordered session: where it belongs. Known: the chain it closes
    std::uint32_t link = 0;       // its place in the chain
    std::uint32_t call_at = 0;    // place of the call among the events
    std::uint32_t return_at = kNoEvent;
    bool known = true;
    bool eager = false;  // reads only, and nobody loses anything when it is linearized at the first chance
    bool twin = true;    // may change places with an equal operation
  };

  Timeline(std::vector<Request> requests, std::uint32_t classes, bool ordered_sessions) : classes_(classes) {
    order(requests);
    link_clients(requests, ordered_sessions);
    give_slots();
  }

  [[nodiscard]] const Op& op(std::uint32_t number) const { return ops_[number]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ops_.size()); }
  [[nodiscard]] std::uint32_t events() const { return static_cast<std::uint32_t>(events_.size()); }
  [[nodiscard]] std::uint32_t op_at(std::uint32_t place) const { return events_[place] >> 1U; }
  [[nodiscard]] bool is_return(std::uint32_t place) const { return (events_[place] & 1U) != 0; }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  [[nodiscard]] bool has_ties() const { return has_ties_; }
  [[nodiscard]] bool has_unknown() const { return has_unknown_; }
  struct Chain {
    std::uint32_t closer = kNone;
    std::vector<std::uint32_t> ops;                                 // by call
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of_class;  // class and place in ops, sorted
  };
  [[nodiscard]] const Chain& chain(std::uint32_t number) const { return chains_[number]; }
  [[nodiscard]] std::uint32_t chains() const { return static_cast<std::uint32_t>(chains_.size()); }
  // A chain's number among the classes, for the table of what was used.
  [[nodiscard]] std::uint32_t chain_key(std::uint32_t number) const { return classes_ + number; }
  [[nodiscard]] bool counts(const Op& op) const { return op.slot == kNoSlot && op.chain == kNone; }
  [[nodiscard]] std::size_t bytes() const {
    return ops_.capacity() * sizeof(Op) + events_.capacity() * 4 + chain_bytes_;
  }

 private:
  // Numbers the operations by call and merges calls and returns; at one instant calls come first (closed intervals).
  void order(std::vector<Request>& requests) {
    const auto by_call = [](const Request& a, const Request& b) {
      return a.call != b.call ? a.call < b.call : a.original < b.original;
    };
    if (!std::ranges::is_sorted(requests, by_call)) std::ranges::sort(requests, by_call);
    ops_.reserve(requests.size());
    std::vector<std::uint32_t> returns;
    for (const Request& each : requests) {
      const auto number = static_cast<std::uint32_t>(ops_.size());
      ops_.push_back({.original = each.original, .cls = each.cls, .known = each.known, .eager = each.read_only});
      if (each.known) returns.push_back(number);
      has_unknown_ = has_unknown_ || !each.known;
    }
    std::ranges::sort(returns, [&](std::uint32_t a, std::uint32_t b) {
      return requests[a].ret != requests[b].ret ? requests[a].ret < requests[b].ret : a < b;
    });
    events_.reserve(ops_.size() + returns.size());
    std::size_t next = 0;
    for (std::uint32_t number = 0; number < ops_.size(); ++number) {
      for (; next < returns.size() && requests[returns[next]].ret < requests[number].call; ++next) {
        add_return(returns[next]);
      }
      ops_[number].call_at = events();
      events_.push_back(number << 1U);
    }
    for (; next < returns.size(); ++next) add_return(returns[next]);
  }
  void add_return(std::uint32_t number) {
    ops_[number].return_at = events();
    events_.push_back((number << 1U) | 1U);
  }

  void link_clients(const std::vector<Request>& requests, bool ordered_sessions) {
    struct Client {
      std::uint32_t last = kNone;  // its last known operation
      std::uint32_t open = kNone;  // the chain of unknown ones since
    };
    std::unordered_map<std::uint32_t, Client> clients;
    for (std::uint32_t number = 0; number < ops_.size(); ++number) {
      Op& op = ops_[number];
      Client& client = clients[requests[number].client];
      if (client.last != kNone && requests[client.last].ret == requests[number].call &&
          (op.known || ordered_sessions)) {
        op.after = client.last;
        op.twin = ops_[client.last].twin = false;
        has_ties_ = true;
      }
      if (op.known) client.last = number;
      if (ordered_sessions) link(number, client.open);
    }
    for (auto& [name, client] : clients) {
      if (client.open != kNone) dissolve(client.open);
    }
    for (Chain& chain : chains_) {
      for (std::uint32_t i = 0; i < chain.ops.size(); ++i) chain.of_class.emplace_back(ops_[chain.ops[i]].cls, i);
      std::ranges::sort(chain.of_class);
      chain_bytes_ += sizeof(Chain) + chain.ops.capacity() * 4 + chain.of_class.capacity() * 8;
    }
  }
  void link(std::uint32_t number, std::uint32_t& open) {
    Op& op = ops_[number];
    if (op.known) {
      if (open == kNone) return;
      op.chain = open;
      op.twin = op.eager = false;
      chains_[open].closer = number;
      open = kNone;
      return;
    }
    if (open == kNone) {
      open = chains();
      chains_.emplace_back();
    }
    op.chain = open;
    op.link = static_cast<std::uint32_t>(chains_[open].ops.size());
    chains_[open].ops.push_back(number);
  }
  // An unknown operation that is alone at the end of its session is like any other unknown operation.
  void dissolve(std::uint32_t chain) {
    std::vector<std::uint32_t>& alone = chains_[chain].ops;
    if (alone.size() != 1 || ops_[alone.front()].after != kNone) return;
    ops_[alone.front()].chain = kNone;
    alone.clear();
  }

  void give_slots() {
    std::vector<std::uint32_t> free;
    const auto take = [&] {
      if (free.empty()) return slots_++;
      const std::uint32_t slot = free.back();
      free.pop_back();
      return slot;
    };
    for (const std::uint32_t event : events_) {
      const std::uint32_t number = event >> 1U;
      Op& op = ops_[number];
      if ((event & 1U) == 0) {
        if (op.known) op.slot = take();
      } else {
        free.push_back(op.slot);
      }
    }
  }

  std::vector<Op> ops_;
  std::vector<std::uint32_t> events_;  // operation * 2 + is it the return
  std::vector<Chain> chains_;
  std::size_t chain_bytes_ = 0;
  std::uint32_t classes_ = 0;
  std::uint32_t slots_ = 0;
  bool has_ties_ = false;
  bool has_unknown_ = false;
};

class Window {
 public:
  explicit Window(const Timeline& timeline)
      : timeline_(&timeline),
        in_slot_(timeline.slots(), kNone),
        called_(timeline.has_unknown() ? timeline.classes() : 0),
        total_(called_.size()),
        in_chain_(timeline.chains()) {
    for (std::uint32_t i = 0; i < timeline.size(); ++i) {
      if (timeline.counts(timeline.op(i))) ++total_[timeline.op(i).cls];
    }
  }

  [[nodiscard]] std::uint32_t place() const { return place_; }
  [[nodiscard]] bool at_end() const { return place_ == timeline_->events(); }
  [[nodiscard]] std::uint32_t in_slot(std::uint32_t slot) const { return in_slot_[slot]; }
  // Both by return, earliest first.
  [[nodiscard]] const std::vector<std::uint32_t>& movers() const { return movers_; }
  [[nodiscard]] const std::vector<std::uint32_t>& readers() const { return readers_; }
  // Classes of unknown operations of which at least one has been called, and how many.
  [[nodiscard]] const std::vector<std::uint32_t>& unknown_classes() const { return unknown_classes_; }
  [[nodiscard]] std::uint32_t called(std::uint32_t cls) const { return called_[cls]; }
  [[nodiscard]] std::uint32_t total(std::uint32_t cls) const { return total_.empty() ? 0 : total_[cls]; }
  // Chains that have begun and whose closer has not returned, by number; and how many of a chain have been called.
  [[nodiscard]] const std::vector<std::uint32_t>& chains() const { return chains_; }
  [[nodiscard]] std::uint32_t in_chain(std::uint32_t chain) const { return in_chain_[chain]; }

  void forward() {
    const std::uint32_t number = timeline_->op_at(place_);
    if (timeline_->is_return(place_++)) {
      leave(number);
      if (timeline_->op(number).chain != kNone) close(timeline_->op(number).chain);
    } else {
      enter(number);
    }
  }
  void backward() {
    const std::uint32_t number = timeline_->op_at(--place_);
    if (timeline_->is_return(place_)) {
      enter(number);
      if (timeline_->op(number).chain != kNone) open(timeline_->op(number).chain);
    } else {
      leave(number);
    }
  }
  [[nodiscard]] std::size_t bytes() const {
    return (in_slot_.capacity() + called_.capacity() + total_.capacity() + unknown_classes_.capacity() +
            in_chain_.capacity()) *
           4;
  }

 private:
  void enter(std::uint32_t number) {
    const Timeline::Op& op = timeline_->op(number);
    if (!op.known) {
      if (op.chain != kNone) {
        if (in_chain_[op.chain]++ == 0) open(op.chain);
      } else if (called_[op.cls]++ == 0) {
        unknown_classes_.push_back(op.cls);
      }
      return;
    }
    in_slot_[op.slot] = number;
    std::vector<std::uint32_t>& list = op.eager ? readers_ : movers_;
    auto place = list.end();
    while (place != list.begin() && timeline_->op(*(place - 1)).return_at > op.return_at) --place;
    list.insert(place, number);
  }
  void leave(std::uint32_t number) {
    const Timeline::Op& op = timeline_->op(number);
    if (!op.known) {
      if (op.chain != kNone) {
        if (--in_chain_[op.chain] == 0) close(op.chain);
      } else if (--called_[op.cls] == 0) {
        unknown_classes_.pop_back();  // called last, so it stands last
      }
      return;
    }
    in_slot_[op.slot] = kNone;
    std::vector<std::uint32_t>& list = op.eager ? readers_ : movers_;
    list.erase(std::ranges::find(list, number));
  }

  void open(std::uint32_t chain) { chains_.insert(std::ranges::lower_bound(chains_, chain), chain); }
  void close(std::uint32_t chain) { chains_.erase(std::ranges::find(chains_, chain)); }

  const Timeline* timeline_;
  std::uint32_t place_ = 0;
  std::vector<std::uint32_t> in_slot_;
  std::vector<std::uint32_t> movers_;
  std::vector<std::uint32_t> readers_;
  std::vector<std::uint32_t> called_;
  std::vector<std::uint32_t> total_;
  std::vector<std::uint32_t> unknown_classes_;
  std::vector<std::uint32_t> in_chain_;
  std::vector<std::uint32_t> chains_;
};

}  // namespace holdfast::porcupine
