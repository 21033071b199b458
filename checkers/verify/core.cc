#include <algorithm>

#include "checkers/verify/core_problem.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {

namespace {

using objects::Decision;

constexpr std::size_t kMostToMinimise = 8;

std::string name(std::size_t number) {
  return "operation " + std::to_string(number);
}

std::optional<std::string> refute_members(Operations operations, const Decision& decision) {
  if (decision.core.empty()) return "the core is empty";
  for (std::size_t i = 0; i < decision.core.size(); ++i) {
    const std::uint32_t member = decision.core[i];
    if (member >= operations.size()) return name(member) + " of the core does not exist";
    if (i > 0 && member <= decision.core[i - 1]) return name(member) + " of the core comes twice or out of order";
    if (operations[member].unknown()) return name(member) + " of the core is unknown: it promises nothing";
  }
  return std::nullopt;
}

Possibility judge(const Promise& promise, Operations operations, const std::vector<std::uint32_t>& core) {
  if (core.empty()) return Possibility::possible;
  const Weakened weakened(promise, operations, core);
  if (promise.kind == Kind::lease_mutex) return place_leases(weakened);
  Possibility answer = count_up(weakened);
  if (answer == Possibility::unclear) answer = add_up_holds(weakened);
  if (answer != Possibility::unclear) return answer;
  Problem problem = is_lock(promise.kind) ? arrange_lock(weakened) : arrange_data(weakened);
  if (!problem.sets) return search_order(promise, problem);
  Promise narrowed = promise;
  narrowed.sets = std::move(*problem.sets);
  return search_order(narrowed, problem);
}

}  // namespace

std::optional<std::string> refute_core(const Promise& promise, Operations operations, const Decision& decision) {
  if (auto fault = refute_members(operations, decision)) return fault;
  if (!std::ranges::is_sorted(operations, {}, &Operation::call)) {
    return "cannot be verified: the operations are not in the order of their calls";
  }
  switch (judge(promise, operations, decision.core)) {
    case Possibility::possible:
      return "the core can be met: there is an order for it";
    case Possibility::unclear:
      return "cannot be verified: too many orders of the core's " + std::to_string(decision.core.size()) +
             " operations would have to be tried";
    case Possibility::impossible:
      break;
  }
  if (decision.core.size() > kMostToMinimise) return std::nullopt;
  for (const std::uint32_t member : decision.core) {
    std::vector<std::uint32_t> fewer = decision.core;
    std::erase(fewer, member);
    if (judge(promise, operations, fewer) == Possibility::impossible) {
      return "the core is not minimal: it is impossible without " + name(member);
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::verify
