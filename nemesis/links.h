// Which links a fault of the network hits: a shape that is filled in when it strikes, or links by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/fault.h"
#include "nemesis/registry.h"

namespace holdfast {

// The shapes that a user can name; the first is the default.
std::vector<FaultTarget> link_targets();

// Throws UsageError that names a node which is not there, or Error when the shape is empty just now.
std::vector<Link> resolve_links(const std::string& target, Stage& stage, std::optional<std::size_t> lane, Rng& rng);

// Throws Error when this shape can never be made on this cluster.
void check_shape(const std::string& target, const Cluster& cluster);

// "c1-n1+n1>c2" -> c1>n1, n1>c1, n1>c2. UsageError that names the part that is no link.
std::vector<Link> parse_links(const std::string& text);

}  // namespace holdfast
