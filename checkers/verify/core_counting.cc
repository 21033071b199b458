// Two proofs of impossibility that need no search, for cores that are too large for one.
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::kNever;
using objects::kNothing;

bool is_one(const Operation& operation) {
  return operation.argument == kNothing || operation.argument == 1;
}

// The core and the optional steps up and down of one number, by call and by return.
struct Timeline {
  std::vector<Operation> core;       // by return
  std::vector<std::size_t> by_call;  // numbers in `core`
  std::vector<Instant> optional_up;  // calls
  std::vector<Instant> optional_down;
};

bool is_up(const Operation& operation) {
  return operation.f == Call::increment || operation.f == Call::acquire;
}

Timeline timeline_of(const Weakened& weakened) {
  Timeline timeline;
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (!operation.unknown()) {
      timeline.core.push_back(operation);
    } else {
      (is_up(operation) ? timeline.optional_up : timeline.optional_down).push_back(operation.call);
    }
  });
  std::ranges::stable_sort(timeline.core, {}, &Operation::ret);
  for (std::size_t i = 0; i < timeline.core.size(); ++i) timeline.by_call.push_back(i);
  std::ranges::stable_sort(timeline.by_call, {}, [&](std::size_t i) { return timeline.core[i].call; });
  return timeline;
}

// Unit steps up and down of one number, and reads of it. When something returns it must have been done; whoever has
// time left waits. If it cannot be done now, the helper to do first is the one that must return soonest. (Whoever was
// hurried once could be hurried later instead, and equal steps can change places: nothing is lost by waiting.)
class Waiting {
 public:
  Waiting(Timeline timeline, std::int64_t start, std::int64_t least, std::int64_t most)
      : timeline_(std::move(timeline)), done_(timeline_.core.size()), count_(start), least_(least), most_(most) {}

  bool fails() {
    std::size_t called = 0;
    see_reads();
    for (std::size_t i = 0; i < timeline_.core.size(); ++i) {
      const Instant now = timeline_.core[i].ret;
      while (called < timeline_.by_call.size() && timeline_.core[timeline_.by_call[called]].call <= now) {
        await(timeline_.by_call[called++]);
      }
      const auto let_in = [now](const std::vector<Instant>& calls, std::size_t& in) {
        while (in < calls.size() && calls[in] <= now) ++in;
      };
      let_in(timeline_.optional_up, up_in_);
      let_in(timeline_.optional_down, down_in_);
      if (!done_[i] && !finish(i)) return true;
    }
    return false;
  }

 private:
  using Soonest = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>;

  void await(std::size_t number) {
    const Operation& operation = timeline_.core[number];
    if (operation.f == Call::read) {
      reads_[operation.result].push_back(number);
      see_reads();
    } else {
      (is_up(operation) ? up_ : down_).push(number);
    }
  }

  bool finish(std::size_t number) {
    const Operation& operation = timeline_.core[number];
    if (operation.f == Call::read) {
      while (!done_[number] && count_ < operation.result) {
        if (!help(up_, up_in_, up_used_, 1)) return false;
      }
      while (!done_[number] && count_ > operation.result) {
        if (!help(down_, down_in_, down_used_, -1)) return false;
      }
      return done_[number];
    }
    if (is_up(operation)) {
      if (count_ == most_ && !help(down_, down_in_, down_used_, -1)) return false;
      step(number, 1);
    } else {
      if (count_ == least_ && !help(up_, up_in_, up_used_, 1)) return false;
      step(number, -1);
    }
    return true;
  }

  void step(std::size_t number, std::int64_t by) {
    done_[number] = true;
    count_ += by;
    see_reads();
  }

  bool help(Soonest& waiting, std::size_t in, std::size_t& used, std::int64_t by) {
    while (!waiting.empty() && done_[waiting.top()]) waiting.pop();
    if (!waiting.empty()) {
      step(waiting.top(), by);
      return true;
    }
    if (used == in) return false;
    ++used;
    count_ += by;
    see_reads();
    return true;
  }

  void see_reads() {
    const auto found = reads_.find(count_);
    if (found == reads_.end()) return;
    for (const std::size_t number : found->second) done_[number] = true;
    reads_.erase(found);
  }

  Timeline timeline_;
  std::vector<bool> done_;
  std::int64_t count_;
  std::int64_t least_;
  std::int64_t most_;
  Soonest up_;
  Soonest down_;
  std::size_t up_in_ = 0;
  std::size_t down_in_ = 0;
  std::size_t up_used_ = 0;
  std::size_t down_used_ = 0;
  std::unordered_map<std::int64_t, std::vector<std::size_t>> reads_;
};

// Does somebody return at the very instant of his next call? Then his order is not told by the clock alone.
bool has_ties(const Weakened& weakened) {
  std::unordered_map<std::uint32_t, Instant> last;
  bool ties = false;
  weakened.for_each_in_core([&](const Operation& operation) {
    const auto [place, fresh] = last.try_emplace(operation.process, operation.ret);
    ties |= !fresh && operation.call <= place->second;
    place->second = std::max(place->second, operation.ret);
  });
  return ties;
}

}  // namespace

// For a counter that only goes up by one this decides. For an anonymous lock it leaves out that sessions are ordered
// and so finds more possible than there is: only its "impossible" counts.
Possibility count_up(const Weakened& weakened) {
  const bool counter = weakened.promise.kind == Kind::counter;
  bool applies = counter || weakened.promise.kind == Kind::anonymous_mutex;
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (operation.refused() || (operation.f == Call::increment && !is_one(operation))) applies = false;
  });
  if (!applies) return Possibility::unclear;
  const std::int64_t start = counter ? std::get<Counter>(initial_machine(weakened.promise)).count : 0;
  const std::int64_t most = counter ? std::numeric_limits<std::int64_t>::max() : weakened.promise.permits;
  if (Waiting(timeline_of(weakened), start, 0, most).fails()) return Possibility::impossible;
  return has_ties(weakened) || has_ordered_sessions(weakened.promise) ? Possibility::unclear : Possibility::possible;
}

// An acquire of the core holds for certain from its return until its owner may first have called a release after it.
// More than there is, held at one instant, is impossible.
Possibility add_up_holds(const Weakened& weakened) {
  const Promise& promise = weakened.promise;
  if (promise.kind != Kind::semaphore && promise.kind != Kind::rw_lock) return Possibility::unclear;
  struct Hold {
    Instant from;
    Instant to;
    std::int64_t weight;
  };
  std::vector<Hold> holds;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> open;  // by owner: holds without a release yet
  std::unordered_map<std::uint32_t, Instant> earliest;               // by owner: its first release
  std::int64_t there_is = promise.permits;
  if (promise.kind == Kind::rw_lock) there_is = static_cast<std::int64_t>(weakened.core_size) + 1;
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    const std::uint32_t owner = owner_of(promise, operation);
    if (operation.f == Call::release && !operation.refused()) {
      earliest.try_emplace(owner, operation.call);
      for (const std::size_t hold : open[owner]) holds[hold].to = std::min(holds[hold].to, operation.call);
      open[owner].clear();
    } else if (operation.ok()) {
      std::int64_t weight = operation.argument == kNothing ? 1 : operation.argument;
      if (promise.kind == Kind::rw_lock) weight = operation.argument == objects::kWrite ? there_is : 1;
      open[owner].push_back(holds.size());
      holds.push_back({.from = operation.ret, .to = kNever, .weight = weight});
      // Where releases may land late, an earlier one can end this hold.
      const auto released = earliest.find(owner);
      if (!has_ordered_sessions(promise) && released != earliest.end()) holds.back().to = released->second;
    }
  });
  std::vector<std::pair<Instant, std::int64_t>> changes;
  for (const Hold& hold : holds) {
    if (hold.from >= hold.to) continue;
    changes.emplace_back(hold.from, hold.weight);
    changes.emplace_back(hold.to, -hold.weight);
  }
  std::ranges::sort(changes);  // at the same instant what ends goes first
  std::int64_t held = 0;
  for (const auto& each : changes) {
    held += each.second;
    if (held > there_is) return Possibility::impossible;
  }
  return Possibility::unclear;
}

}  // namespace holdfast::verify
