#include "checkers/objects/obligations.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
using Values = boost::unordered_flat_set<std::int64_t>;

// Operations looked at while a core is made minimal: some seconds, and the same on every machine.
constexpr std::uint64_t kMostWork = 40'000'000;

bool creates(const Operation& operation) {
  return !operation.refused() && (operation.f == Call::write || operation.f == Call::cas);
}

std::int64_t created(const Operation& operation) {
  return operation.f == Call::cas ? operation.result : operation.argument;
}

// Of operations that do the same the earliest `most` are enough: weakened they can be done at any later time, too.
class Earliest {
 public:
  explicit Earliest(std::size_t most) : most_(most) {}
  bool take(Call f, std::int64_t argument, std::int64_t result) {
    std::size_t& taken = taken_[{f, argument, result}];
    return taken++ < most_;
  }

 private:
  std::size_t most_;
  std::map<std::tuple<Call, std::int64_t, std::int64_t>, std::size_t> taken_;
};

// A weakened operation matters to a register only if it makes a value that the core sees, or on the way there. Between
// two steps of the core no value need come twice, so one operation of a class for each member of the core is enough.
// Where the core holds a refusal ("not u"), any other value is of use as well.
Numbers that_matter_to_register(const Promise& promise, Operations operations, const std::vector<bool>& in_core,
                                std::size_t core_size) {
  Values wanted;
  bool refusals = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!in_core[i]) continue;
    const Operation& operation = operations[i];
    wanted.insert(operation.f == Call::read ? operation.result : operation.argument);
    if (creates(operation)) wanted.insert(created(operation));
    refusals = refusals || operation.refused();
  }
  if (refusals) wanted.insert(promise.initial);
  // Backwards along the compare-and-sets that make a wanted value.
  boost::unordered_flat_map<std::int64_t, Numbers> swaps;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (operations[i].f == Call::cas && creates(operations[i])) swaps[operations[i].result].push_back(i);
  }
  std::vector<std::int64_t> open(wanted.begin(), wanted.end());
  while (!open.empty()) {
    const auto makers = swaps.find(open.back());
    open.pop_back();
    if (makers == swaps.end()) continue;
    for (const std::uint32_t maker : makers->second) {
      if (wanted.insert(operations[maker].argument).second) open.push_back(operations[maker].argument);
    }
  }
  Numbers result;
  Earliest earliest(core_size + 1);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (in_core[i] || !creates(operation)) continue;
    const bool swap = operation.f == Call::cas;
    if (wanted.contains(created(operation))) {
      if (earliest.take(operation.f, operation.argument, swap ? operation.result : kNothing)) result.push_back(i);
    } else if (refusals && (!swap || wanted.contains(operation.argument))) {
      if (earliest.take(operation.f, swap ? operation.argument : kNothing, kNothing)) result.push_back(i);
    }
  }
  return result;
}

// A weakened insert matters only to an extract of the core that got its value; a weakened extract only to an insert of
// the core that is in its way, and each of those goes away once.
Numbers that_matter_to_collection(Operations operations, const std::vector<bool>& in_core) {
  boost::unordered_flat_map<std::int64_t, std::size_t> extracted;
  std::size_t inserts = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!in_core[i]) continue;
    if (operations[i].f == Call::insert) {
      ++inserts;
    } else {
      ++extracted[operations[i].result];
    }
  }
  std::size_t inserted_before = inserts;
  Numbers result;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (in_core[i]) continue;
    if (operation.f == Call::insert) {
      const auto place = extracted.find(operation.argument);
      if (place == extracted.end() || place->second == 0) continue;
      --place->second;
      result.push_back(i);
    } else if (inserted_before > 0 && !is_observation(operation)) {
      --inserted_before;
      result.push_back(i);
    }
  }
  return result;
}

// Elements that the core does not speak of stay out of the set. A whole read of the core speaks of all elements: those
// that it did not see are added by nobody, unless somebody of the core did.
Numbers that_matter_to_set(const Promise& promise, Operations operations, const std::vector<bool>& in_core,
                           std::size_t core_size) {
  Values elements;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!in_core[i]) continue;
    if (operations[i].f == Call::read) {
      const auto& seen = promise.sets.at(static_cast<std::size_t>(operations[i].result));
      elements.insert(seen.begin(), seen.end());
    } else {
      elements.insert(operations[i].argument);
    }
  }
  Numbers result;
  Earliest earliest(core_size + 1);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (in_core[i] || is_observation(operation) || !elements.contains(operation.argument)) continue;
    if (earliest.take(operation.f, operation.argument, kNothing)) result.push_back(i);
  }
  return result;
}

// Nothing that is called after the core has returned matters to a counter. Of the increments called before all of the
// core so many as no member of it can do without may have happened in the beginning, and of the others no more than the
// core counts: answers the initial value for that.
std::int64_t start_counting(const Promise& promise, Operations operations, const std::vector<bool>& in_core,
                            Numbers& kept) {
  const std::int64_t initial = promise.initial == kNothing ? 0 : promise.initial;
  Instant begin = kNever;
  Instant end = std::numeric_limits<Instant>::min();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = initial;
  std::int64_t increments = 0;
  bool by_one = true;  // else there is no telling which ones are of use
  for (std::size_t i = 0; i < operations.size(); ++i) {
    by_one = by_one && (operations[i].argument == kNothing || operations[i].argument == 1);
    if (!in_core[i]) continue;
    begin = std::min(begin, operations[i].call);
    end = std::max(end, operations[i].ret);
    if (operations[i].f == Call::increment) {
      ++increments;
    } else {
      least = std::min(least, operations[i].result);
      greatest = std::max(greatest, operations[i].result);
    }
  }
  Numbers before;
  Numbers later;
  for (std::uint32_t i = 0; i < operations.size() && operations[i].call <= end; ++i) {
    if (in_core[i] || is_observation(operations[i])) continue;
    (operations[i].call <= begin ? before : later).push_back(i);
  }
  const auto available = static_cast<std::int64_t>(before.size());
  const std::int64_t done = !by_one || least == std::numeric_limits<std::int64_t>::max()
                                ? 0
                                : std::clamp<std::int64_t>(least - increments - initial, 0, available);
  const std::int64_t of_use =
      !by_one ? available : std::min(available - done, std::max<std::int64_t>(0, greatest - initial - done));
  kept.assign(before.begin(), before.begin() + of_use);
  kept.insert(kept.end(), later.begin(), later.end());
  return initial + done;
}

Numbers joined(const Numbers& one, const Numbers& other) {
  Numbers result = one;
  result.insert(result.end(), other.begin(), other.end());
  return result;
}

// Of `candidates` a minimal set that is contradictory together with `given`.
Numbers needed(const Numbers& given, bool changed, const Numbers& candidates,
               const std::function<bool(const Numbers&)>& impossible) {
  if (changed && impossible(given)) return {};
  if (candidates.size() <= 1) return candidates;
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
  const Numbers first(candidates.begin(), middle);
  const Numbers second(middle, candidates.end());
  const Numbers of_second = needed(joined(given, first), true, second, impossible);
  return joined(needed(joined(given, of_second), !of_second.empty(), first, impossible), of_second);
}

class Minimizer {
 public:
  Minimizer(const Promise& promise, Operations operations, const Numbers& core, const Decider& decider,
            const Limits& limits)
      : promise_(promise), operations_(operations), decider_(decider), limits_(limits) {
    limits_.witness = false;
    limits_.minimal_core = false;
    std::vector<bool> in_core(operations.size());
    for (const std::uint32_t member : core) in_core[member] = true;
    switch (promise.kind) {
      case Kind::register_:
        arena_ = that_matter_to_register(promise, operations, in_core, core.size());
        break;
      case Kind::counter:
        promise_.initial = start_counting(promise, operations, in_core, arena_);
        break;
      case Kind::set:
        arena_ = that_matter_to_set(promise, operations, in_core, core.size());
        break;
      default:
        arena_ = that_matter_to_collection(operations, in_core);
        break;
    }
    arena_.insert(arena_.end(), core.begin(), core.end());
    std::ranges::sort(arena_);
    arena_.erase(std::ranges::unique(arena_).begin(), arena_.end());
  }

  Numbers minimal(const Numbers& core) {
    return minimal_part(core, [this](const Numbers& members) { return impossible(members); });
  }

  // False also when it cannot be told: then more stays in the core than must.
  bool impossible(Numbers members) {
    if (work_ > kMostWork || limits_.reached()) return false;
    work_ += arena_.size();
    std::ranges::sort(members);
    std::vector<Operation> history;
    history.reserve(arena_.size());
    for (const std::uint32_t number : arena_) {
      if (std::ranges::binary_search(members, number)) {
        history.push_back(operations_[number]);
      } else if (!is_observation(operations_[number])) {
        history.push_back(weaken(operations_[number]));
      }
    }
    return decider_(promise_, history, limits_).answer == Answer::violation;
  }

 private:
  Promise promise_;
  Operations operations_;
  const Decider& decider_;
  Limits limits_;
  Numbers arena_;
  std::uint64_t work_ = 0;
};

// "{0}", "{0} and {1}", "{0}, {1} and {2}", …; of many only the first and the last.
std::string listed(std::size_t count) {
  constexpr std::size_t kMostListed = 6;
  std::string text = "{0}";
  if (count > kMostListed) {
    return "{0}, {1} and " + std::to_string(count - 3) + " more up to {" + std::to_string(count - 1) + "}";
  }
  for (std::size_t i = 1; i < count; ++i) {
    text += (i + 1 == count ? " and {" : ", {") + std::to_string(i) + '}';
  }
  return text;
}

// The last certain operation of each process so far.
class Processes {
 public:
  explicit Processes(Operations operations) {
    std::uint32_t greatest = 0;
    for (const Operation& operation : operations) greatest = std::max(greatest, operation.process);
    if (greatest < operations.size() + 1024) near_.assign(greatest + 1, kNone);
  }
  std::uint32_t& last(std::uint32_t process) {
    return near_.empty() ? far_.try_emplace(process, kNone).first->second : near_[process];
  }

 private:
  Numbers near_;
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> far_;
};

// Is there a process that called at the instant of its last return (or before)?
bool clock_is_too_coarse(Operations operations) {
  Processes processes(operations);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (operations[i].unknown()) continue;
    std::uint32_t& last = processes.last(operations[i].process);
    if (last != kNone && operations[last].ret >= operations[i].call) return true;
    last = i;
  }
  return false;
}

bool in_program_order(Operations operations, const Numbers& witness) {
  Processes processes(operations);
  for (const std::uint32_t number : witness) {
    if (operations[number].unknown()) continue;
    std::uint32_t& last = processes.last(operations[number].process);
    if (last != kNone && number < last) return false;
    last = number;
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> minimal_part(const std::vector<std::uint32_t>& candidates,
                                        const std::function<bool(const std::vector<std::uint32_t>&)>& impossible) {
  return needed({}, false, candidates, impossible);
}

bool is_observation(const Operation& operation) {
  return operation.refused() || operation.f == Call::read || operation.f == Call::contains ||
         (operation.ok() && operation.f == Call::extract && operation.result == kNothing);
}

Operation weaken(Operation operation) {
  operation.outcome = Outcome::unknown;
  operation.ret = kNever;
  if (operation.f != Call::cas) operation.result = kNothing;  // what a cas wanted is known without its answer
  return operation;
}

std::string in_words(std::int64_t value) {
  return value == kNothing ? "nothing" : std::to_string(value);
}

Decision violation(std::string rule, std::string conclusion, Instant from, Instant to) {
  Decision decision;
  decision.answer = Answer::violation;
  decision.rule = std::move(rule);
  decision.because = std::move(conclusion);
  decision.from = std::min(from, to);
  decision.to = std::max(from, to);
  return decision;
}

Decision out_of_time() {
  Decision decision;
  decision.answer = Answer::undecided;
  decision.because = "the time ran out";
  return decision;
}

bool contradictory(const Promise& promise, Operations operations, const std::vector<std::uint32_t>& core,
                   const Decider& decider, const Limits& limits) {
  return !core.empty() && Minimizer(promise, operations, core, decider, limits).impossible(core);
}

void conclude(Decision& decision, const Promise& promise, Operations operations, std::vector<std::uint32_t> core,
              const Decider& decider, const Limits& limits) {
  std::ranges::sort(core);
  core.erase(std::ranges::unique(core).begin(), core.end());
  if (limits.minimal_core && core.size() > 1) {
    core = Minimizer(promise, operations, core, decider, limits).minimal(core);
    std::ranges::sort(core);
  }
  decision.because =
      listed(core.size()) + (core.size() == 1 ? " cannot be true: " : " cannot all be true: ") + decision.because;
  decision.core = std::move(core);
}

Decision decide_in_program_order(const Promise& promise, Operations operations, const Decider& decider,
                                 const Limits& limits) {
  if (!std::ranges::is_sorted(operations, {}, &Operation::call)) {
    throw std::invalid_argument("the operations of a history must be sorted by call");
  }
  if (!clock_is_too_coarse(operations)) return decider(promise, operations, limits);
  Limits with_witness = limits;
  with_witness.witness = true;
  Decision decision = decider(promise, operations, with_witness);
  if (decision.answer == Answer::violation && limits.minimal_core && decision.core.size() > 1) {
    // With the order of each process in mind fewer members may be enough.
    const Decider exact = [&decider](const Promise& of, Operations some, const Limits& within) {
      return decide_in_program_order(of, some, decider, within);
    };
    const std::size_t conclusion = decision.because.find(": ");
    if (conclusion != std::string::npos) decision.because.erase(0, conclusion + 2);
    conclude(decision, promise, operations, decision.core, exact, limits);
  }
  if (decision.answer == Answer::linearizable && !in_program_order(operations, decision.witness)) {
    decision = search(promise, operations, limits);
    decision.searched = operations.size();
  }
  if (!limits.witness) decision.witness.clear();
  return decision;
}

Decision search_some(const Promise& promise, Operations operations, const std::vector<std::uint32_t>& numbers,
                     const Limits& limits) {
  std::vector<Operation> some;
  some.reserve(numbers.size());
  for (const std::uint32_t number : numbers) some.push_back(operations[number]);
  Decision decision = search(promise, some, limits);
  for (std::uint32_t& number : decision.witness) number = numbers[number];
  for (std::uint32_t& number : decision.core) number = numbers[number];
  decision.searched = some.size();
  return decision;
}

void refuse_operation(const Promise& promise, std::size_t number, const Operation& operation) {
  throw std::invalid_argument("operation " + std::to_string(number) + " (" + std::string(to_string(operation.f)) +
                              (operation.refused() ? ", refused" : "") + ") makes no sense for a " +
                              std::string(to_string(promise.kind)));
}

}  // namespace holdfast::objects
