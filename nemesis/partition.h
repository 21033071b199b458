// Cuts links between nodes, in any directions, all at the same instant. Connections stay open and silent, as they do
// when a cable is pulled far away.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

// A name of link_targets() or links by name: "c1-n1+n1>c2".
std::unique_ptr<Fault> make_partition(const std::string& target);

// The same, but cut for half of each period and whole for the other half: "holder" or "holder/100ms".
std::unique_ptr<Fault> make_flapping(const std::string& target);

}  // namespace holdfast
