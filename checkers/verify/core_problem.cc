#include "checkers/verify/core_problem.h"

#include <algorithm>
#include <unordered_map>

namespace holdfast::verify {

using objects::Call;
using objects::kNever;
using objects::kNothing;
using objects::Outcome;

Weakened::Weakened(const Promise& its_promise, Operations its_operations, const std::vector<std::uint32_t>& core)
    : promise(its_promise), operations(its_operations), in_core(its_operations.size()), core_size(core.size()) {
  for (const std::uint32_t member : core) in_core[member] = true;
}

// What only looked tells nothing any more, except that an extract whose answer was never known may have taken
// something.
bool Weakened::disappears(const Operation& operation) {
  return operation.refused() || operation.f == Call::read || operation.f == Call::contains ||
         (operation.f == Call::extract && operation.ok() && operation.result == kNothing);
}

// What a write or a cas wanted is known without its answer; what an acquire or an extract got is not.
Operation Weakened::weak(Operation operation) {
  operation.outcome = Outcome::unknown;
  operation.ret = kNever;
  if (operation.f != Call::cas) operation.result = kNothing;
  return operation;
}

void Classes::add(const Operation& operation, std::size_t most) {
  const std::uint32_t owner = is_lock(promise_.kind) ? owner_of(promise_, operation) : 0;
  const auto [place, fresh] =
      numbers_.try_emplace({operation.f, operation.argument, operation.result, owner}, classes_.size());
  if (fresh) classes_.push_back({.most = most});
  std::vector<Step>& steps = classes_[place->second].line.steps;
  if (steps.size() < most) steps.push_back({.operation = operation});
}

void Classes::move_to(std::vector<Line>& lines, Instant first_return) {
  for (Class& each : classes_) {
    std::vector<Step>& steps = each.line.steps;
    if (steps.empty()) continue;
    std::ranges::stable_sort(steps, {}, [](const Step& step) { return step.operation.call; });
    if (steps.size() == each.most && steps.back().operation.call <= first_return) {
      steps.resize(1);
      each.line.endless = true;
    }
    lines.push_back(std::move(each.line));
  }
  classes_.clear();
  numbers_.clear();
}

std::vector<Line> core_lines(const Weakened& weakened) {
  std::vector<Line> lines;
  std::unordered_map<std::uint32_t, std::size_t> numbers;
  weakened.for_each_in_core([&](const Operation& operation) {
    const auto [place, fresh] = numbers.try_emplace(operation.process, lines.size());
    if (fresh) lines.emplace_back();
    lines[place->second].steps.push_back({.operation = operation});
  });
  return lines;
}

Instant first_return(const Weakened& weakened) {
  Instant first = kNever;
  weakened.for_each_in_core([&](const Operation& operation) { first = std::min(first, operation.ret); });
  return first;
}

bool is_observation(const Promise& promise, const Operation& operation) {
  if (operation.refused()) return promise.kind != Kind::fair_mutex || operation.f != Call::acquire;
  return operation.f == Call::read || operation.f == Call::contains ||
         (operation.f == Call::extract && operation.ok() && operation.result == kNothing);
}

bool same_effect(const Promise& promise, const Operation& one, const Operation& other) {
  return one.f == other.f && one.argument == other.argument && one.result == other.result &&
         one.outcome == other.outcome && (!is_lock(promise.kind) || owner_of(promise, one) == owner_of(promise, other));
}

}  // namespace holdfast::verify
