#include <algorithm>

#include "checkers/verify/lease_witness.h"
#include "checkers/verify/sequential.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {

namespace {

using objects::Decision;
using objects::Instant;
using objects::Operations;

std::string name(std::size_t number) {
  return "operation " + std::to_string(number);
}

// Every ok and refused operation once, the unknown ones at most once.
std::optional<std::string> refute_membership(Operations operations, const Decision& decision) {
  std::vector<bool> seen(operations.size());
  for (const std::uint32_t number : decision.witness) {
    if (number >= operations.size()) return name(number) + " of the witness does not exist";
    if (seen[number]) return name(number) + " is in the witness twice";
    seen[number] = true;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!seen[i] && !operations[i].unknown()) return name(i) + " is known to have happened but is not in the witness";
  }
  return std::nullopt;
}

// a.ret < b.call for no b that comes before a: no operation returned before the latest call so far.
std::optional<std::string> refute_real_time(Operations operations, const Decision& decision) {
  Instant latest_call = std::numeric_limits<Instant>::min();
  for (const std::uint32_t number : decision.witness) {
    const Operation& operation = operations[number];
    if (operation.ret < latest_call)
      return name(number) + " comes in the witness after one that was called when it had returned";
    latest_call = std::max(latest_call, operation.call);
  }
  return std::nullopt;
}

// A process does one thing after the other; where sessions are ordered, its unknown requests keep their place too.
std::optional<std::string> refute_program_order(const Promise& promise, Operations operations,
                                                const Decision& decision) {
  std::map<std::uint32_t, std::uint32_t> last;
  for (const std::uint32_t number : decision.witness) {
    const Operation& operation = operations[number];
    if (operation.unknown() && !has_ordered_sessions(promise)) continue;
    const auto [place, first] = last.try_emplace(operation.process, number);
    if (!first && number < place->second)
      return name(number) + " comes in the witness after a later one of its process";
    place->second = number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refute_witness(const Promise& promise, Operations operations, const Decision& decision) {
  if (auto fault = refute_membership(operations, decision)) return fault;
  if (auto fault = refute_real_time(operations, decision)) return fault;
  if (auto fault = refute_program_order(promise, operations, decision)) return fault;
  if (promise.kind == Kind::lease_mutex) return refute_lease_instants(promise, operations, decision);
  Machine machine = initial_machine(promise);
  for (const std::uint32_t number : decision.witness) {
    if (!apply(machine, promise, operations[number]))
      return name(number) + " is not allowed at its place in the witness";
  }
  return std::nullopt;
}

std::optional<std::string> refute(const Promise& promise, Operations operations, const Decision& decision) {
  switch (decision.answer) {
    case objects::Answer::linearizable:
      return refute_witness(promise, operations, decision);
    case objects::Answer::violation:
      return refute_core(promise, operations, decision);
    case objects::Answer::undecided:
      break;
  }
  return std::nullopt;
}

}  // namespace holdfast::verify
