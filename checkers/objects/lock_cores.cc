#include "checkers/objects/lock_cores.h"

#include <algorithm>
#include <utility>

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

namespace {

using Members = std::vector<std::uint32_t>;  // positions in the arena

class Minimizer {
 public:
  Minimizer(const Promise& promise, const Arena& arena, const LockDecider& decider, const Limits& limits)
      : promise_(promise), arena_(arena), decider_(decider), limits_(limits), known_(arena.operations.size()) {
    limits_.witness = false;
    limits_.minimal_core = false;
  }

  // Of `candidates` a minimal set that is contradictory together with `given`.
  Members needed(const Members& given, bool changed, const Members& candidates) {
    if (changed && impossible(given)) return {};
    if (candidates.size() == 1) return candidates;
    const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
    const Members first(candidates.begin(), middle);
    const Members second(middle, candidates.end());
    const Members of_second = needed(joined(given, first), true, second);
    Members result = needed(joined(given, of_second), !of_second.empty(), first);
    result.insert(result.end(), of_second.begin(), of_second.end());
    return result;
  }

  // False also when it cannot be told: then more stays in the core than must.
  bool impossible(const Members& members) {
    if (limits_.reached()) return false;
    known_.assign(known_.size(), false);
    for (const std::uint32_t member : members) known_[member] = true;
    history_.clear();
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i]) {
        history_.push_back(arena_.operations[i]);
      } else if (!is_observation(arena_.operations[i])) {
        history_.push_back(weaken(arena_.operations[i]));
        if (!arena_.weak_arguments.empty()) history_.back().argument = arena_.weak_arguments[i];
      }
    }
    return decider_(promise_, history_, limits_).answer == Answer::violation;
  }

 private:
  static Members joined(const Members& one, const Members& other) {
    Members result = one;
    result.insert(result.end(), other.begin(), other.end());
    return result;
  }

  Promise promise_;
  const Arena& arena_;
  const LockDecider& decider_;
  Limits limits_;
  std::vector<bool> known_;
  std::vector<Operation> history_;
};

// "{0}", "{0} and {1}", "{0}, {1} and {2}", …; of many only the first two and the last.
std::string listed(std::size_t count) {
  constexpr std::size_t kMostListed = 6;
  std::string text = "{0}";
  if (count > kMostListed) {
    return "{0}, {1} and " + std::to_string(count - 3) + " more up to {" + std::to_string(count - 1) + "}";
  }
  for (std::size_t i = 1; i < count; ++i) text += (i + 1 == count ? " and {" : ", {") + std::to_string(i) + '}';
  return text;
}

}  // namespace

Arena arena_of(Operations operations, const HoldGroups& holds, std::vector<std::uint32_t> chosen) {
  std::ranges::sort(chosen);
  chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> members;
  for (const std::uint32_t hold : chosen) {
    for (const std::uint32_t number : holds.of(hold)) members.emplace_back(number, hold);
  }
  std::ranges::sort(members);
  Arena arena;
  for (const auto& [number, hold] : members) {
    arena.operations.push_back(operations[number]);
    arena.operations.back().hold = hold;
    arena.numbers.push_back(number);
  }
  return arena;
}

Decision lock_violation(std::string rule, std::string conclusion, Instant from, Instant to) {
  return violation(std::move(rule), std::move(conclusion), from, to);
}

void set_core(Decision& decision, std::vector<std::uint32_t> core) {
  std::ranges::sort(core);
  const std::string verb = core.size() == 1   ? " cannot be true: "
                           : core.size() == 2 ? " cannot both be true: "
                                              : " cannot all be true: ";
  decision.because = listed(core.size()) + verb + decision.because;
  decision.core = std::move(core);
}

void find_core(Decision& decision, const Promise& promise, const Arena& arena, const LockDecider& decider,
               const Limits& limits) {
  Promise with_ids = promise;
  with_ids.identity = Identity::hold;
  find_core_as(decision, with_ids, arena, decider, limits);
}

void find_core_as(Decision& decision, const Promise& promise, const Arena& arena, const LockDecider& decider,
                  const Limits& limits, const std::vector<std::uint32_t>& likely) {
  Members candidates;
  for (std::uint32_t i = 0; i < arena.operations.size(); ++i) {
    if (!arena.operations[i].unknown()) candidates.push_back(i);
  }
  if (limits.minimal_core && candidates.size() > 1) {
    Minimizer minimizer(promise, arena, decider, limits);
    Members first;
    for (const std::uint32_t member : candidates) {
      if (std::ranges::find(likely, arena.numbers[member]) != likely.end()) first.push_back(member);
    }
    if (!first.empty() && minimizer.impossible(first)) candidates = std::move(first);
    candidates = minimizer.needed({}, false, candidates);
  }
  std::vector<std::uint32_t> core;
  for (const std::uint32_t member : candidates) core.push_back(arena.numbers[member]);
  set_core(decision, std::move(core));
}

}  // namespace holdfast::objects
