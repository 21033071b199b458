// The controller's own private world: a network and mount namespace that nobody else sees.
//
// Everything that local nodes need on "the host" (the cable to their switch) is made in here, so the machine's own
// network is never touched and the kernel removes it all when the controller dies, however it dies. Without root a
// user namespace is put around it, in which we may do the same things.
#pragma once

#include <string>

namespace holdfast {

// Idempotent. Must be called while the process has one thread (the kernel demands it for user namespaces).
// Throws Error that names the kernel setting in the way.
void enter_private_world();

[[nodiscard]] bool in_user_namespace();  // true after enter_private_world() without root

// Why there can be no private world with nodes here, with the fix; empty when there can. Tries it in a child process.
[[nodiscard]] std::string private_world_obstacle();

}  // namespace holdfast
