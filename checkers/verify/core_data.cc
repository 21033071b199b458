// Which optional operations can help a core, object by object; the others are left out. In each argument a "gap" is
// what happens between two neighbouring operations of the core in some order; a core of k operations has k + 1 gaps.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "checkers/verify/core_problem.h"

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::kNothing;
using Values = std::unordered_set<std::int64_t>;

// A register. Somebody who wants a certain value (a read, a cas that went well) comes at the end of a gap: only writes
// and cas that end in that value help, and those that lead to what such a cas expects, and so on. A refused cas wants
// any value but one: from the value `e` any write helps that ends elsewhere, and any cas from `e`. All values that
// nobody wants and nobody refuses are as good as each other, so one stands for all of them. A shortest way through a
// gap takes no value twice: of equal operations at most one is used in each gap.
class RegisterPruning {
 public:
  explicit RegisterPruning(const Weakened& weakened) : weakened_(weakened) {
    special_.insert(weakened.promise.initial);
    weakened.for_each_in_core([this](const Operation& operation) {
      if (operation.f == Call::write) {
        special_.insert(operation.argument);
      } else if (operation.f == Call::read) {
        wanted_.insert(operation.result);
      } else if (operation.refused()) {
        refused_.insert(operation.argument);
      } else {
        wanted_.insert(operation.argument);
        special_.insert(operation.result);
      }
    });
    special_.insert(wanted_.begin(), wanted_.end());
    special_.insert(refused_.begin(), refused_.end());
  }

  Problem run() {
    want_what_leads_there();
    std::vector<Operation> useful;
    weakened_.for_each([&](std::size_t /*index*/, Operation operation) {
      if (!operation.unknown()) return;
      std::int64_t& target = operation.f == Call::write ? operation.argument : operation.result;
      if (!wanted_.contains(target)) {
        const bool flees = !refused_.empty() && (operation.f == Call::write || refused_.contains(operation.argument));
        if (!flees) return;
        if (!special_.contains(target)) target = nowhere(target);
      }
      useful.push_back(operation);
    });
    Problem problem{.lines = core_lines(weakened_)};
    Classes classes(weakened_.promise);
    for (const Operation& operation : contract(useful)) classes.add(operation, weakened_.core_size + 1);
    classes.move_to(problem.lines, first_return(weakened_));
    return problem;
  }

 private:
  void want_what_leads_there() {
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> sources;  // new value -> what its cas expect
    weakened_.for_each([&](std::size_t /*index*/, const Operation& operation) {
      if (operation.unknown() && operation.f == Call::cas) {
        std::vector<std::int64_t>& list = sources[operation.result];
        if (std::ranges::find(list, operation.argument) == list.end()) list.push_back(operation.argument);
      }
    });
    std::vector<std::int64_t> open(wanted_.begin(), wanted_.end());
    while (!open.empty()) {
      const auto found = sources.find(open.back());
      open.pop_back();
      if (found == sources.end()) continue;
      for (const std::int64_t source : found->second) {
        if (wanted_.insert(source).second) open.push_back(source);
      }
    }
  }

  // The one value that stands for all that nobody cares about.
  std::int64_t nowhere(std::int64_t value) {
    if (!nowhere_) nowhere_ = value;
    return *nowhere_;
  }

  static std::int64_t target_of(const Operation& operation) {
    return operation.f == Call::write ? operation.argument : operation.result;
  }

  // A value that only one operation makes and only one cas expects is a stop on the way that nobody looks at: the two
  // are one step, which can be done from the later of the two calls on. (Unless stopping there is a way to flee.)
  std::vector<Operation> contract(const std::vector<Operation>& useful) const {
    struct Stop {
      std::size_t made = 0;
      std::size_t expected = 0;
      const Operation* onward = nullptr;
      bool flees = false;
    };
    std::unordered_map<std::int64_t, Stop> stops;
    for (const Operation& operation : useful) {
      Stop& end = stops[target_of(operation)];
      ++end.made;
      end.flees |= !refused_.empty() && (operation.f == Call::write || refused_.contains(operation.argument));
      if (operation.f != Call::cas) continue;
      Stop& start = stops[operation.argument];
      ++start.expected;
      start.onward = &operation;
    }
    const auto passes = [&](std::int64_t value) {
      const Stop& stop = stops[value];
      return !special_.contains(value) && stop.made == 1 && stop.expected == 1 && !stop.flees;
    };
    std::vector<Operation> result;
    for (const Operation& operation : useful) {
      if (operation.f == Call::cas && passes(operation.argument)) continue;  // part of another's way, or unreachable
      Operation whole = operation;
      while (passes(target_of(whole))) {
        const Operation& onward = *stops[target_of(whole)].onward;
        whole.call = std::max(whole.call, onward.call);
        (whole.f == Call::write ? whole.argument : whole.result) = onward.result;
      }
      result.push_back(whole);
    }
    return result;
  }

  const Weakened& weakened_;
  Values wanted_;   // by reads and by cas that went well
  Values refused_;  // by a cas
  Values special_;  // all that the core speaks of
  std::optional<std::int64_t> nowhere_;
};

// Several registers. A transaction nobody waited for helps only by a value that the core reads; done twice in a gap its
// first time is overwritten by its second.
Problem arrange_transactions(const Weakened& weakened) {
  const auto steps_of = [&](std::int64_t number) -> const std::vector<std::int64_t>& {
    return weakened.promise.sets.at(static_cast<std::size_t>(number));
  };
  std::set<std::pair<std::int64_t, std::int64_t>> wanted;
  weakened.for_each_in_core([&](const Operation& operation) {
    const std::vector<std::int64_t>& steps = steps_of(operation.result);
    for (std::size_t i = 0; i + 2 < steps.size(); i += 3) {
      if (steps[i] == objects::kRead) wanted.emplace(steps[i + 1], steps[i + 2]);
    }
  });
  Problem problem{.lines = core_lines(weakened)};
  Classes classes(weakened.promise);
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (!operation.unknown()) return;
    const std::vector<std::int64_t>& steps = steps_of(operation.argument);
    for (std::size_t i = 0; i + 2 < steps.size(); i += 3) {
      if (steps[i] == objects::kWrite && wanted.contains({steps[i + 1], steps[i + 2]})) {
        classes.add(operation, weakened.core_size + 1);
        return;
      }
    }
  });
  classes.move_to(problem.lines, first_return(weakened));
  return problem;
}

// A counter. Where nothing counts down, what goes beyond the greatest read of the core never helps.
Problem arrange_counter(const Weakened& weakened) {
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  bool only_up = true;
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (operation.f == Call::read) {
      greatest = std::max(greatest, operation.result);
    } else {
      only_up = only_up && (operation.argument > 0 || operation.argument == kNothing);
    }
  });
  Problem problem{.lines = core_lines(weakened)};
  Classes classes(weakened.promise);
  const std::int64_t start = std::get<Counter>(initial_machine(weakened.promise)).count;
  weakened.for_each([&](std::size_t /*index*/, Operation operation) {
    if (!operation.unknown()) return;
    if (operation.argument == kNothing) operation.argument = 1;
    std::size_t most = weakened.operations.size();
    if (only_up) most = greatest <= start ? 0 : static_cast<std::size_t>((greatest - start) / operation.argument);
    classes.add(operation, most);
  });
  classes.move_to(problem.lines, kNoneEndless);  // each one counts
  if (only_up) {
    problem.worthwhile = [greatest](const Machine& machine) { return std::get<Counter>(machine).count <= greatest; };
  }
  return problem;
}

// A set. Elements that the core does not speak of never need to be in it. Those that only whole reads speak of, always
// the same reads, and that nobody takes out, come and stay together: the one that can be added last stands for all.
class SetPruning {
 public:
  explicit SetPruning(const Weakened& weakened) : weakened_(weakened), promise_(weakened.promise) {}

  Problem run() {
    speak_of_elements();
    join_elements();
    Problem problem{.lines = core_lines(weakened_)};
    for (Line& line : problem.lines) {
      for (Step& step : line.steps) {
        if (step.operation.f == Call::read) step.operation.result = seen_by_.at(step.operation.result);
      }
    }
    Classes classes(promise_);
    weakened_.for_each([&](std::size_t /*index*/, const Operation& operation) {
      if (operation.unknown() && kept_.contains(operation.argument)) classes.add(operation, weakened_.core_size + 1);
    });
    classes.move_to(problem.lines, first_return(weakened_));
    return problem;
  }
  // What the reads of the core see of the elements that are kept.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& sets() const { return sets_; }

 private:
  struct Element {
    std::vector<std::size_t> reads;  // of the core that saw it
    bool alone = false;              // operations of the core name it, or somebody takes it out
    Instant added = objects::kNever;
  };

  void speak_of_elements() {
    std::size_t reads = 0;
    weakened_.for_each_in_core([&](const Operation& operation) {
      if (operation.f != Call::read) {
        elements_[operation.argument].alone = true;
        return;
      }
      for (const std::int64_t element : promise_.sets.at(static_cast<std::size_t>(operation.result))) {
        std::vector<std::size_t>& list = elements_[element].reads;
        if (list.empty() || list.back() != reads) list.push_back(reads);
      }
      ++reads;
    });
    weakened_.for_each([&](std::size_t /*index*/, const Operation& operation) {
      if (!operation.unknown()) return;
      const auto found = elements_.find(operation.argument);
      if (found == elements_.end()) return;
      if (operation.f == Call::remove) {
        found->second.alone = true;
      } else {
        found->second.added = std::min(found->second.added, operation.call);
      }
    });
  }

  void join_elements() {
    std::map<std::vector<std::size_t>, std::pair<Instant, std::int64_t>> latest;  // by reads
    for (const auto& [element, what] : elements_) {
      if (what.alone) {
        kept_.insert(element);
        continue;
      }
      const auto [place, fresh] = latest.try_emplace(what.reads, what.added, element);
      if (!fresh) place->second = std::max(place->second, std::pair(what.added, element));
    }
    for (const auto& each : latest) kept_.insert(each.second.second);
    sets_ = {};
    weakened_.for_each_in_core([&](const Operation& operation) {
      if (operation.f != Call::read || seen_by_.contains(operation.result)) return;
      seen_by_[operation.result] = static_cast<std::int64_t>(sets_.size());
      std::vector<std::int64_t>& seen = sets_.emplace_back();
      for (const std::int64_t element : promise_.sets.at(static_cast<std::size_t>(operation.result))) {
        if (kept_.contains(element)) seen.push_back(element);
      }
    });
  }

  const Weakened& weakened_;
  const Promise& promise_;
  std::map<std::int64_t, Element> elements_;
  Values kept_;
  std::vector<std::vector<std::int64_t>> sets_;
  std::map<std::int64_t, std::int64_t> seen_by_;  // number of the set in the promise -> in sets_
};

// Queue, stack, priority queue. Something more inside never helps anybody: an optional insert is of use only if the
// core extracts its value. Something that was inserted without need and extracted by somebody who does not know what he
// got: leaving out both changes nothing for the others. So an optional extract takes what the core inserted.
Problem arrange_collection(const Weakened& weakened) {
  std::unordered_map<std::int64_t, std::size_t> extracted;
  std::size_t inserted = 0;
  weakened.for_each_in_core([&](const Operation& operation) {
    if (operation.f == Call::insert) {
      ++inserted;
    } else if (operation.result != kNothing) {
      ++extracted[operation.result];
    }
  });
  Problem problem{.lines = core_lines(weakened)};
  Classes classes(weakened.promise);
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (!operation.unknown()) return;
    if (operation.f == Call::extract) {
      classes.add(operation, inserted);
    } else if (const auto found = extracted.find(operation.argument); found != extracted.end()) {
      classes.add(operation, found->second);
    }
  });
  classes.move_to(problem.lines, kNoneEndless);  // each takes one thing out or puts one in
  return problem;
}

// A text that grows. After an optional step it must be the beginning of something the core read: otherwise nobody can
// read it before it is written anew, and then the step was not needed.
Problem arrange_text(const Weakened& weakened) {
  const auto text_of = [&](std::int64_t number) -> const std::string& {
    return weakened.promise.texts.at(static_cast<std::size_t>(number));
  };
  std::vector<std::string> seen;
  weakened.for_each_in_core([&](const Operation& operation) {
    if (operation.f == Call::read) seen.push_back(text_of(operation.result));
  });
  std::size_t longest = 0;
  for (const std::string& each : seen) longest = std::max(longest, each.size());
  std::unordered_map<std::int64_t, bool> occurs;
  Problem problem{.lines = core_lines(weakened)};
  Classes classes(weakened.promise);
  weakened.for_each([&](std::size_t /*index*/, const Operation& operation) {
    if (!operation.unknown()) return;
    const auto [place, fresh] = occurs.try_emplace(operation.argument);
    if (fresh) {
      const std::string& text = text_of(operation.argument);
      place->second =
          std::ranges::any_of(seen, [&](const std::string& whole) { return whole.find(text) != std::string::npos; });
    }
    if (place->second) classes.add(operation, (weakened.core_size + 1) * (longest + 1));
  });
  classes.move_to(problem.lines, first_return(weakened));
  problem.worthwhile = [seen](const Machine& machine) {
    const std::string& text = std::get<Text>(machine).text;
    return std::ranges::any_of(seen, [&](const std::string& whole) { return whole.starts_with(text); });
  };
  return problem;
}

}  // namespace

Problem arrange_data(const Weakened& weakened) {
  switch (weakened.promise.kind) {
    case Kind::register_:
      return RegisterPruning(weakened).run();
    case Kind::multi_register:
      return arrange_transactions(weakened);
    case Kind::counter:
      return arrange_counter(weakened);
    case Kind::set: {
      SetPruning pruning(weakened);
      Problem problem = pruning.run();
      problem.sets = pruning.sets();
      return problem;
    }
    case Kind::append_map:
      return arrange_text(weakened);
    default:
      return arrange_collection(weakened);
  }
}

}  // namespace holdfast::verify
