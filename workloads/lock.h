// The lock workload: clients contend for locks and, while they believe to hold one, read and change a guarded resource.
//
// One round of a client:  acquire -> read -> [hold time] -> write -> release.  An attempt that is refused is repeated
// with a fresh hold id after a pause of about `poll`, until `wait` is over; then the client rests and starts a new
// round, maybe with another lock. The final phase, after healing, lets every process take every lock once: what no
// fault explains any more and still cannot be taken, is deadlocked.
//
// The surprising rule: the end of the time stops attempts, never a critical section. A client that abandoned its lock
// because the test is over would look like one that died, and a sound lock without leases like a deadlock.
#pragma once

#include "harness/workload.h"

namespace holdfast {

Workload lock_workload(const WorkloadOptions& options);

}  // namespace holdfast
