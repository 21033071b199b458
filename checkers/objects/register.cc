#include "checkers/objects/register.h"

#include <algorithm>
#include <limits>

#include "checkers/objects/register_components.h"
#include "checkers/objects/register_zones.h"

namespace holdfast::objects {

namespace {

Decision by_the_clock(const Promise& promise, Operations operations, const Limits& limits) {
  std::optional<Decision> decision = decide_by_zones(promise, operations, limits);
  if (!decision) return decide_by_components(promise, operations, limits);
  if (decision->answer == Answer::violation) {
    conclude(*decision, promise, operations, decision->core, by_the_clock, limits);
  }
  return std::move(*decision);
}

}  // namespace

Decision decide_register(const Promise& promise, Operations operations, const Limits& limits) {
  return decide_in_program_order(promise, operations, by_the_clock, limits);
}

}  // namespace holdfast::objects
