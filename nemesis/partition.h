// Cuts links between nodes, in any directions, all at the same instant: the cluster has one place where packets are
// dropped. Connections stay open and silent, as they do when a cable is pulled far away.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/fault.h"

namespace holdfast {

// "holder" | "replies" | "server" | "halves" | links: "c1-n1+n1>c2"
std::unique_ptr<Fault> make_partition(const std::string& target);

// "c1-n1+n1>c2" -> c1>n1, n1>c1, n1>c2. UsageError that names the part that is no link.
std::vector<CutLink> parse_links(const std::string& text);

}  // namespace holdfast
