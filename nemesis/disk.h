// Faults of a server's disk. Local nodes with a disk of their own only, which such a plan puts into them.
//
// All leave the file system to the kernel: nothing is deleted behind a server's back. Healing starts the server again
// when it did not live through it.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

// The node loses power and comes back: what was not synced is gone, the server starts anew.
std::unique_ptr<Fault> make_disk_power(const std::string& target);  // "server", here and below
std::unique_ptr<Fault> make_disk_full(const std::string& target);
std::unique_ptr<Fault> make_disk_read_only(const std::string& target);
std::unique_ptr<Fault> make_disk_dead(const std::string& target);  // every operation fails, until a new start
std::unique_ptr<Fault> make_disk_slow(const std::string& target);  // a few writes per second

}  // namespace holdfast
