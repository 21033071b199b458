// PID 1 of a local node: starts, signals and reaps processes on the controller's behalf.
//
// One SEQPACKET socket, one JSON message per packet, answers in order:
//   {"argv":[…],"env":[…],"log":"/data/x.log","client":true} + descriptors for standard input and output (or none)
//       -> {"pid":12} + a pidfd | {"errno":2}
//   {"signal":9,"group":12}  -> {}          {"state":12} -> {"state":"running"|"stopped"|"gone"}
// Clients run as batch processes (SCHED_BATCH): when one wakes up it does not push the server under test aside.
// And, unasked, {"exited":12,"status":<wait status>}. When the socket closes, the controller is dead: init exits and
// the kernel ends everything in the node.
#pragma once

namespace holdfast {

[[noreturn]] void serve_as_init(int control);

}  // namespace holdfast
