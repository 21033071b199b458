// A fault of the network: links of some shape get a policy, all at the same instant, and lose it again. What the
// network counted on those links meanwhile is the proof that it bit.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

// What shows that a fault of this kind bit: one of the network's counters, under the name that the history gives it.
struct LinkEvidence {
  const char* name = "";
  std::uint64_t LinkCounts::* counter = nullptr;
};

// `flap` > 0: the links are bad for half of each such period and good for the other half.
std::unique_ptr<Fault> make_link_fault(std::string target, const LinkPolicy& policy, const LinkEvidence& evidence,
                                       std::chrono::nanoseconds flap = {});

}  // namespace holdfast
