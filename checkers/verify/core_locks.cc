// Which optional operations can help the core of a lock; the others are left out. A "gap" is what happens between two
// neighbouring operations of the core in some order; a core of k operations has k + 1 gaps.
//
// - Somebody who has nothing in the core and takes the lock is in the way of everybody else. That helps only those who
//   were told that the lock is taken (a refused acquire); where nobody knows who holds it (anonymous lock); and where
//   grants are counted (a fenced lock whose tokens leave no gaps).
// - In a gap an owner goes from what he held to what he holds next; a way that holds the same twice can be cut short.
//   So there is a bound on the operations of one owner in a gap: `most_in_a_gap`.
// - In an ordered session any choice of operations may be replaced by the earliest ones that spell the same word.
//   Those that no word of at most (k + 1) * most_in_a_gap letters reaches that way are never needed.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

namespace {

using objects::Call;

class LockPruning {
 public:
  explicit LockPruning(const Weakened& weakened) : weakened_(weakened), promise_(weakened.promise) {
    weakened.for_each_in_core([this](const Operation& operation) {
      insiders_.try_emplace(owner_of_line(operation), insiders_.size());
      told_taken_ |= operation.f == Call::acquire && operation.refused() && promise_.kind != Kind::fair_mutex;
      if (operation.f == Call::acquire && operation.ok()) {
        greatest_token_ = std::max(greatest_token_, operation.result);
      }
      returns_.push_back(operation.ret);
    });
    std::ranges::sort(returns_);
    counts_grants_ = promise_.kind == Kind::fenced_mutex &&
                     (promise_.fence == objects::FenceRule::by_one || promise_.reentrancy > 1);
    longest_word_ = (weakened.core_size + 1) * most_in_a_gap();
    if (counts_grants_)
      longest_word_ += 2 * static_cast<std::size_t>(std::clamp<std::int64_t>(greatest_token_, 0, 4096));
  }

  Problem run() {
    if (has_ordered_sessions(promise_)) {
      arrange_sessions();
    } else {
      arrange_classes();
    }
    return std::move(problem_);
  }

 private:
  [[nodiscard]] std::size_t most_in_a_gap() const {
    switch (promise_.kind) {
      case Kind::mutex:
      case Kind::fenced_mutex:
        return promise_.reentrancy;
      case Kind::anonymous_mutex:
      case Kind::semaphore:
        return promise_.permits;
      case Kind::fair_mutex:
        return 6;  // take what is left of an older ticket, give it back, and draw the next one
      default:
        return 2;  // give back one thing, take another
    }
  }

  [[nodiscard]] std::uint32_t owner_of_line(const Operation& operation) const {
    return has_ordered_sessions(promise_) ? operation.process : owner_of(promise_, operation);
  }
  [[nodiscard]] bool outsiders_matter() const { return told_taken_ || promise_.kind == Kind::anonymous_mutex; }

  // How much of the core has returned before this instant: two optional calls at the same level can be done at the same
  // places.
  [[nodiscard]] std::size_t level(Instant call) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(returns_, call) - returns_.begin());
  }

  void arrange_sessions() {
    std::vector<Line> insiders(insiders_.size());
    std::map<std::uint32_t, Line> outsiders;
    weakened_.for_each([&](std::size_t /*index*/, const Operation& operation) {
      if (const auto found = insiders_.find(operation.process); found != insiders_.end()) {
        insiders[found->second].steps.push_back({.operation = operation});
      } else if (outsiders_matter() || counts_grants_) {
        outsiders[operation.process].steps.push_back({.operation = operation});
      }
    });
    for (Line& line : insiders) {
      shorten(line);
      problem_.lines.push_back(std::move(line));
    }
    if (outsiders_matter()) {
      std::vector<Line> lines;
      for (auto& each : outsiders) lines.push_back(std::move(each.second));
      add_outsiders(std::move(lines));
    } else if (counts_grants_) {
      std::vector<Line> lines;
      for (auto& each : outsiders) lines.push_back(std::move(each.second));
      add_grants(lines);
    }
  }

  // Where requests may land at any later time, equal ones of an owner differ in nothing but their call.
  void arrange_classes() {
    problem_.lines = core_lines(weakened_);
    Classes classes(promise_);
    std::map<std::uint32_t, Line> outsiders;
    weakened_.for_each([&](std::size_t /*index*/, const Operation& operation) {
      if (!operation.unknown()) return;
      if (promise_.kind == Kind::anonymous_mutex) {
        Operation anonymous = operation;
        anonymous.process = 0;
        anonymous.hold = 0;
        classes.add(anonymous, longest_word_);
      } else if (insiders_.contains(owner_of(promise_, operation))) {
        classes.add(operation, longest_word_);
      } else if (told_taken_ || counts_grants_) {
        outsiders[owner_of(promise_, operation)].steps.push_back({.operation = operation});
      }
    });
    std::vector<Line> by_owner;
    for (auto& each : outsiders) by_owner.push_back(std::move(each.second));
    if (told_taken_) {
      add_unordered_outsiders(by_owner, classes);
    } else if (counts_grants_) {
      add_grants(by_owner);
    }
    // Tokens and tickets never end: there each operation is counted.
    const bool counted = promise_.kind == Kind::fenced_mutex || promise_.kind == Kind::fair_mutex;
    classes.move_to(problem_.lines, counted ? kNoneEndless : first_return(weakened_));
  }

  // Leaves only those optional steps between two of the core that the earliest spelling of some word reaches.
  void shorten(Line& line) const {
    std::vector<Step> kept;
    for (std::size_t begin = 0; begin < line.steps.size();) {
      std::size_t end = begin;
      while (end < line.steps.size() && line.steps[end].operation.unknown()) ++end;
      for (const std::size_t place : reached(line.steps, begin, end)) kept.push_back(line.steps[place]);
      if (end < line.steps.size()) kept.push_back(line.steps[end]);
      begin = end + 1;
    }
    line.steps = std::move(kept);
  }

  [[nodiscard]] std::vector<std::size_t> reached(const std::vector<Step>& steps, std::size_t begin,
                                                 std::size_t end) const {
    std::map<std::pair<Call, std::int64_t>, std::vector<std::size_t>> letters;
    for (std::size_t i = begin; i < end; ++i) {
      letters[{steps[i].operation.f, steps[i].operation.argument}].push_back(i);
    }
    std::vector<bool> seen(end - begin + 1);
    std::deque<std::pair<std::size_t, std::size_t>> open = {{begin, 0}};  // the place after a step, letters so far
    while (!open.empty()) {
      const auto [place, length] = open.front();
      open.pop_front();
      if (length == longest_word_) break;
      for (const auto& each : letters) {
        const auto next = std::ranges::lower_bound(each.second, place);
        if (next == each.second.end() || seen[*next - begin]) continue;
        seen[*next - begin] = true;
        open.emplace_back(*next + 1, length + 1);
      }
    }
    std::vector<std::size_t> result;
    for (std::size_t i = begin; i < end; ++i) {
      if (seen[i - begin]) result.push_back(i);
    }
    return result;
  }

  // Outsiders who do the same at the same levels stand in for one another; no more of them can be of use than there are
  // operations of outsiders in all gaps.
  using Signature = std::vector<std::tuple<Call, std::int64_t, std::size_t>>;
  [[nodiscard]] Signature signature(const Line& line) const {
    Signature result;
    for (const Step& step : line.steps) {
      result.emplace_back(step.operation.f, step.operation.argument, level(step.operation.call));
    }
    return result;
  }

  void add_outsiders(std::vector<Line>&& lines) {
    std::map<Signature, std::size_t> known;
    for (Line& line : lines) {
      shorten(line);
      if (++known[signature(line)] <= longest_word_) problem_.lines.push_back(std::move(line));
    }
  }

  void add_unordered_outsiders(const std::vector<Line>& lines, Classes& classes) {
    std::map<Signature, std::size_t> known;
    for (const Line& line : lines) {
      if (++known[signature(line)] > longest_word_) continue;
      for (const Step& step : line.steps) classes.add(step.operation, longest_word_);
    }
  }

  // Where only the number of grants matters, an outsider's acquire and the release after it are one step, and all such
  // steps are the same.
  void add_grants(const std::vector<Line>& lines) {
    const bool ordered = has_ordered_sessions(promise_);
    Line grants;
    for (const Line& line : lines) {
      std::vector<Operation> acquires;
      std::vector<Operation> releases;
      for (const Step& step : line.steps) {
        const bool acquire = step.operation.f == Call::acquire;
        if (ordered && (acquire ? acquires.size() > releases.size() : acquires.size() == releases.size())) continue;
        (acquire ? acquires : releases).push_back(step.operation);
      }
      for (std::size_t i = 0; i < std::min(acquires.size(), releases.size()); ++i) {
        Operation grant = acquires[i];
        grant.call = std::max(grant.call, releases[i].call);
        grants.steps.push_back({.operation = grant, .and_released = true});
      }
    }
    std::ranges::stable_sort(grants.steps, {}, [](const Step& step) { return step.operation.call; });
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(greatest_token_, 0));
    if (grants.steps.size() > most) grants.steps.resize(most);
    // They are the same, so they may as well all be done by the same outsider.
    for (Step& step : grants.steps) {
      step.operation.process = grants.steps.front().operation.process;
      step.operation.hold = grants.steps.front().operation.hold;
    }
    problem_.lines.push_back(std::move(grants));
  }

  const Weakened& weakened_;
  const Promise& promise_;
  std::unordered_map<std::uint32_t, std::size_t> insiders_;  // owner -> number of its line
  std::vector<Instant> returns_;
  bool told_taken_ = false;
  bool counts_grants_ = false;
  std::int64_t greatest_token_ = 0;
  std::size_t longest_word_ = 0;
  Problem problem_;
};

}  // namespace

Problem arrange_lock(const Weakened& weakened) {
  return LockPruning(weakened).run();
}

}  // namespace holdfast::verify
