#include "nemesis/partition.h"

#include "nemesis/link_fault.h"
#include "nemesis/parameters.h"

namespace holdfast {

namespace {

constexpr LinkEvidence kDropped{"packets_dropped", &LinkCounts::dropped};

}  // namespace

std::unique_ptr<Fault> make_partition(const std::string& target) {
  return make_link_fault(target, {.cut = true}, kDropped);
}

std::unique_ptr<Fault> make_flapping(const std::string& target) {
  const Parameters given = split_parameters("flapping", target);
  given.at_most(1);
  return make_link_fault(given.target, {.cut = true}, kDropped, given.duration(0, std::chrono::milliseconds(100)));
}

}  // namespace holdfast
