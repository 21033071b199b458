#include "checkers/objects/set.h"

#include <algorithm>
#include <tuple>

#include "checkers/objects/set_parts.h"

namespace holdfast::objects {

namespace {

void require_set_operation(const Promise& promise, std::size_t number, const Operation& operation) {
  switch (operation.f) {
    case Call::remove:
      return;
    case Call::read:
      if (operation.ok() && static_cast<std::size_t>(operation.result) >= promise.sets.size()) break;
      [[fallthrough]];
    case Call::add:
    case Call::contains:
      if (!operation.refused()) return;
      break;
    default:
      break;
  }
  refuse_operation(promise, number, operation);
}

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  bool whole_reads = false;
  bool only_grows = true;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    require_set_operation(promise, i, operation);
    if (operation.f == Call::read) whole_reads = whole_reads || operation.ok();
    const bool idle = operation.unknown() && (operation.f == Call::read || operation.f == Call::contains);
    only_grows = only_grows && (idle || operation.f == Call::read || operation.f == Call::add);
  }
  if (whole_reads && !only_grows) {
    Decision decision = search(promise, operations, limits);
    decision.searched = operations.size();
    return decision;
  }
  Decision decision =
      whole_reads ? decide_growing_set(promise, operations, limits) : decide_elements(promise, operations, limits);
  if (decision.answer == Answer::violation) {
    conclude(decision, promise, operations, decision.core, by_the_clock, limits);
  }
  return decision;
}

}  // namespace

std::vector<std::uint32_t> in_order(std::vector<Placed> placed) {
  std::ranges::sort(placed, {}, [](const Placed& each) { return std::tuple(each.when, each.turn, each.number); });
  std::vector<std::uint32_t> result;
  result.reserve(placed.size());
  for (const Placed& each : placed) result.push_back(each.number);
  return result;
}

Decision decide_set(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
