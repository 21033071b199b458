// The nemesis that carries out fault plans: waits for their triggers, injects, probes, heals, records, and again.
//
// A plan whose trigger is an event strikes at that very event: the client that set it off is held still until the
// fault is in place. A pause of a holder ends soon after another client was granted the same lock, which is the
// moment everything depends on, or after a few leases when nobody was.
#pragma once

#include <memory>
#include <vector>

#include "harness/nemesis.h"
#include "nemesis/plan.h"

namespace holdfast {

struct ScheduleOptions {
  std::uint64_t seed = 0;
  bool leases = true;
  Time lease = std::chrono::milliseconds(600);
  Time first = std::chrono::milliseconds(400);  // nothing strikes before this: a healthy run comes first
  Time gap = std::chrono::milliseconds(700);    // at least so long between two strikes of a plan
};

std::unique_ptr<Nemesis> make_nemesis(const std::vector<FaultPlan>& plans, const ScheduleOptions& options);

}  // namespace holdfast
