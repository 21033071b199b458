#include "checkers/oracle/oracle.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>

#include "checkers/verify/sequential.h"
#include "checkers/verify/verify.h"

namespace holdfast::oracle {

using objects::Answer;
using objects::Call;
using objects::Decision;
using objects::Instant;
using objects::kNever;
using objects::Operation;
using objects::Operations;
using objects::Outcome;
using objects::Promise;
using verify::Machine;

namespace {

constexpr std::size_t kMostOperations = 20;

// Depth first over (which operations are behind us, state of the object). "Behind us" also holds unknown operations
// that an ordered session has passed over.
class Search {
 public:
  Search(const Promise& promise, Operations operations) : promise_(promise), operations_(operations) {}

  bool from(std::uint32_t done, const Machine& machine) {
    Instant deadline = kNever;  // the next one must have been called by the time the first of the others returns
    bool open = false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if ((done >> i & 1U) != 0 || operations_[i].unknown()) continue;
      deadline = std::min(deadline, operations_[i].ret);
      open = true;
    }
    if (!open) return true;
    if (!seen_.emplace(done, machine).second) return false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if ((done >> i & 1U) != 0 || operations_[i].call > deadline || waits(done, i)) continue;
      Machine next = machine;
      if (apply(next, promise_, operations_[i]) && from(behind(done, i), next)) return true;
    }
    return false;
  }

 private:
  // An earlier operation of the same process that is known to have happened comes first, whatever the clock says.
  [[nodiscard]] bool waits(std::uint32_t done, std::size_t number) const {
    if (operations_[number].unknown() && !has_ordered_sessions(promise_)) return false;
    for (std::size_t i = 0; i < number; ++i) {
      if ((done >> i & 1U) == 0 && operations_[i].process == operations_[number].process && !operations_[i].unknown()) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::uint32_t behind(std::uint32_t done, std::size_t number) const {
    done |= 1U << number;
    if (!has_ordered_sessions(promise_)) return done;
    for (std::size_t i = 0; i < number; ++i) {
      if (operations_[i].process == operations_[number].process) done |= 1U << i;
    }
    return done;
  }

  const Promise& promise_;
  Operations operations_;
  std::set<std::pair<std::uint32_t, Machine>> seen_;
};

bool is_observation(const Operation& operation) {
  return operation.refused() || operation.f == Call::read || operation.f == Call::contains ||
         (operation.f == Call::extract && operation.ok() && operation.result == objects::kNothing);
}

}  // namespace

bool possible(const Promise& promise, Operations operations) {
  if (operations.size() > kMostOperations) throw std::invalid_argument("too many operations to try every order");
  return Search(promise, operations).from(0, verify::initial_machine(promise));
}

History weakened(Operations operations, const std::vector<std::uint32_t>& core) {
  History result;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    Operation operation = operations[i];
    if (!std::ranges::binary_search(core, i)) {
      if (is_observation(operation)) continue;
      operation.outcome = Outcome::unknown;
      operation.ret = kNever;
      // What a write, an append or a cas wanted is known without its answer; what an acquire or extract got is not.
      if (operation.f != Call::cas) operation.result = objects::kNothing;
    }
    result.push_back(operation);
  }
  return result;
}

std::optional<std::string> disagreement(const Promise& promise, Operations operations, const Decider& decider,
                                        const Truth& truth) {
  const auto complain = [&](const std::string& what, const Decision& decision) {
    std::string text = what + "\nrule: " + decision.rule + "\nbecause: " + decision.because + "\nwitness:";
    for (const std::uint32_t number : decision.witness) text += ' ' + std::to_string(number);
    text += "\ncore:";
    for (const std::uint32_t number : decision.core) text += ' ' + std::to_string(number);
    return text + '\n' + print(promise, operations);
  };
  const Decision decision = decider(promise, operations, {});
  const bool truly = truth(promise, operations);
  if (decision.answer == Answer::undecided) return complain("undecided without a limit", decision);
  if ((decision.answer == Answer::linearizable) != truly) {
    return complain(truly ? "a false alarm" : "a violation missed", decision);
  }
  if (const auto fault = verify::refute(promise, operations, decision)) {
    return complain("the certificate does not hold: " + *fault, decision);
  }
  if (truly) return std::nullopt;
  if (decision.core.empty()) return complain("a violation without a core", decision);
  if (decision.rule.empty() || decision.because.empty()) return complain("a violation without a reason", decision);
  if (!std::ranges::is_sorted(decision.core)) return complain("the core is not in order", decision);
  // The weakened history may not keep the sessions' promise (an unknown one is not the last of its process), which only
  // makes more orders possible; ordered sessions stay ordered.
  if (truth(promise, weakened(operations, decision.core))) return complain("the core alone is possible", decision);
  for (const std::uint32_t member : decision.core) {
    std::vector<std::uint32_t> fewer = decision.core;
    std::erase(fewer, member);
    if (!truth(promise, weakened(operations, fewer))) {
      return complain("the core is not minimal: it needs no " + std::to_string(member), decision);
    }
  }
  return std::nullopt;
}

std::string print(const Promise& promise, Operations operations) {
  const auto number = [](std::int64_t value) {
    return value == objects::kNothing ? std::string("-") : std::to_string(value);
  };
  std::string text = std::string(to_string(promise.kind)) + "\n";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& each = operations[i];
    text += std::to_string(i) + ": p" + std::to_string(each.process);
    if (each.hold != objects::kNone) text += " h" + std::to_string(each.hold);
    text += ' ' + std::string(to_string(each.f)) + '(' + number(each.argument) + ") = " + number(each.result);
    text += each.ok() ? " ok" : each.refused() ? " refused" : " unknown";
    text += " [" + std::to_string(each.call) + ", " + (each.ret == kNever ? "never" : std::to_string(each.ret)) + "]\n";
  }
  return text;
}

void for_each_arrangement(
    const std::vector<bool>& unknown,
    const std::function<void(const std::vector<Instant>& call, const std::vector<Instant>& ret)>& visit) {
  const std::size_t count = unknown.size();
  std::vector<Instant> call(count);
  std::vector<Instant> ret(count, kNever);
  const std::function<void(std::size_t, Instant)> place = [&](std::size_t called, Instant now) {
    bool open = false;
    for (std::size_t i = 0; i < called; ++i) {
      if (unknown[i] || ret[i] != kNever) continue;
      open = true;
      ret[i] = now;
      place(called, now + 1);
      ret[i] = kNever;
    }
    if (called < count) {
      call[called] = now;
      place(called + 1, now + 1);
    } else if (!open) {
      visit(call, ret);
    }
  };
  place(0, 0);
}

void normalise(History& history) {
  std::map<Instant, Instant> positions;
  for (const Operation& each : history) {
    positions[each.call];
    if (each.ret != kNever) positions[each.ret];
  }
  Instant position = 0;
  for (auto& each : positions) each.second = position++;
  for (Operation& each : history) {
    each.call = positions[each.call];
    if (each.ret != kNever) each.ret = positions[each.ret];
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
}

std::uint64_t random_cases() {
  const char* const wanted = std::getenv("HOLDFAST_ORACLE_CASES");  // NOLINT(concurrency-mt-unsafe): tests set nothing
  return wanted == nullptr ? 100'000 : std::strtoull(wanted, nullptr, 10);
}

std::size_t all_up_to(std::size_t usual) {
  constexpr std::uint64_t kNight = 10'000'000;
  return random_cases() >= kNight ? 5 : usual;
}

}  // namespace holdfast::oracle
