#include "nemesis/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"

namespace holdfast {

namespace {

using When = FaultPlan::When;
using Names = std::vector<std::string>;

struct Shape {
  FaultTarget target;
  std::size_t servers;  // at least so many
};

constexpr std::array kShapes = {
    Shape{{"holder", "the holder's node and the servers, both ways", When::acquired, true}, 1},
    Shape{{"replies", "what the servers answer the holder, one way", When::acquired, true}, 1},
    Shape{{"requests", "what the holder asks the servers, one way", When::acquired, true}, 1},
    Shape{{"with-primary", "holder and primary on one side, all other clients and servers on the other", When::acquired,
           true},
          1},
    Shape{{"server", "a primary and all clients", When::at_times, false}, 1},
    Shape{{"primary", "a primary alone: from all other servers and all clients", When::at_times, false}, 1},
    Shape{{"isolated", "a random server alone: from all other servers and all clients", When::at_times, false}, 1},
    Shape{{"deaf", "all that goes to a random server, one way", When::at_times, false}, 1},
    Shape{{"mute", "all that comes from a random server, one way", When::at_times, false}, 1},
    Shape{{"halves", "all nodes in two random halves", When::at_times, false}, 1},
    Shape{{"minority", "a random minority of the servers and the others; each client is on a random side",
           When::at_times, false},
          3},
    Shape{{"bridge", "two halves of the servers that only one server between them can reach", When::at_times, false},
          3},
    Shape{{"ring", "servers in a ring: each reaches a majority, no two the same", When::at_times, false}, 4},
};

// Roles may share a node, and a node has no link to itself.
void add(std::vector<Link>& links, const std::string& from, const std::string& to) {
  if (from != to) links.push_back({from, to});
}

std::vector<Link> between(const Names& side, const Names& other) {
  std::vector<Link> links;
  for (const std::string& a : side) {
    for (const std::string& b : other) {
      add(links, a, b);
      add(links, b, a);
    }
  }
  return links;
}

Names names_of(std::span<Node* const> nodes) {
  Names names;
  for (const Node* node : nodes) names.push_back(node->name());
  return names;
}

Names shuffled(Names names, Rng& rng) {
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[rng.below(i)]);
  return names;
}

Names servers_and_clients(const Cluster& cluster) {
  Names names = names_of(cluster.servers());
  for (const std::string& client : names_of(cluster.clients())) {
    if (std::ranges::find(names, client) == names.end()) names.push_back(client);
  }
  return names;
}

Names without(Names names, const Names& taken) {
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(taken, name) != taken.end(); });
  return names;
}

std::string primary_of(Stage& stage, Rng& rng) {
  const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
  if (primaries.empty()) throw Error("there is no primary just now");
  return primaries[rng.below(primaries.size())]->name();
}

std::vector<Link> of_holder(const std::string& shape, const std::string& holder, Stage& stage, Rng& rng) {
  const Cluster& cluster = stage.cluster();
  if (shape == "with-primary") {
    const Names together = {holder, primary_of(stage, rng)};
    return between(together, without(servers_and_clients(cluster), together));
  }
  std::vector<Link> links;
  for (const std::string& server : names_of(cluster.servers())) {
    if (shape != "replies") add(links, holder, server);
    if (shape != "requests") add(links, server, holder);
  }
  return links;
}

std::vector<Link> of_one_server(const std::string& shape, const std::string& server, const Cluster& cluster) {
  std::vector<Link> links;
  for (const std::string& other : servers_and_clients(cluster)) {
    if (shape != "mute") add(links, other, server);
    if (shape != "deaf") add(links, server, other);
  }
  return links;
}

std::vector<Link> of_minority(const Names& servers, const Cluster& cluster, Rng& rng) {
  const auto middle = servers.begin() + static_cast<std::ptrdiff_t>((servers.size() - 1) / 2);
  Names minority(servers.begin(), middle);
  Names majority(middle, servers.end());
  for (const std::string& client : without(names_of(cluster.clients()), servers)) {
    (rng.chance(0.5) ? minority : majority).push_back(client);
  }
  return between(minority, majority);
}

std::vector<Link> of_bridge(const Names& servers) {
  const auto middle = servers.begin() + 1 + static_cast<std::ptrdiff_t>((servers.size() - 1) / 2);
  return between(Names(servers.begin() + 1, middle), Names(middle, servers.end()));
}

std::vector<Link> of_ring(const Names& servers) {
  const std::size_t reach = (servers.size() / 2 + 1) / 2;  // to either side: with itself a majority
  std::vector<Link> links;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (std::size_t j = 0; j < servers.size(); ++j) {
      const std::size_t apart = (j + servers.size() - i) % servers.size();
      if (std::min(apart, servers.size() - apart) > reach) add(links, servers[i], servers[j]);
    }
  }
  return links;
}

std::vector<Link> of_shape(const std::string& shape, Stage& stage, std::optional<std::size_t> lane, Rng& rng) {
  const Cluster& cluster = stage.cluster();
  if (lane && (shape == "holder" || shape == "replies" || shape == "requests" || shape == "with-primary")) {
    return of_holder(shape, stage.client(*lane).node->name(), stage, rng);
  }
  if (shape == "server") return between({primary_of(stage, rng)}, names_of(cluster.clients()));
  if (shape == "primary") return of_one_server(shape, primary_of(stage, rng), cluster);
  if (shape == "halves") {
    const Names all = shuffled(names_of(cluster.all()), rng);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    return between(Names(all.begin(), middle), Names(middle, all.end()));
  }
  const Names servers = shuffled(names_of(cluster.servers()), rng);
  if (shape == "minority") return of_minority(servers, cluster, rng);
  if (shape == "bridge") return of_bridge(servers);
  if (shape == "ring") return of_ring(servers);
  return of_one_server(shape, servers.front(), cluster);
}

const Shape* find_shape(const std::string& target) {
  const auto* const found = std::ranges::find(kShapes, target, [](const Shape& shape) { return shape.target.name; });
  return found == kShapes.end() ? nullptr : found;
}

void check_names(const std::vector<Link>& links, Cluster& cluster) {
  const Names known = names_of(cluster.all());
  for (const Link& link : links) {
    for (const std::string& name : {link.from, link.to}) {
      if (std::ranges::find(known, name) == known.end()) {
        throw UsageError(fmt::format("there is no node \"{}\" in this cluster ({})", name, cluster.describe()));
      }
    }
  }
}

}  // namespace

std::vector<FaultTarget> link_targets() {
  std::vector<FaultTarget> targets;
  for (const Shape& shape : kShapes) targets.push_back(shape.target);
  return targets;
}

std::vector<Link> resolve_links(const std::string& target, Stage& stage, std::optional<std::size_t> lane, Rng& rng) {
  const Shape* const shape = find_shape(target);
  HOLDFAST_CHECK(shape == nullptr || !shape->target.client_of_trigger || lane.has_value(),
                 "a plan that hits the holder is set off by a client");
  std::vector<Link> links = shape != nullptr ? of_shape(target, stage, lane, rng) : parse_links(target);
  if (links.empty()) throw Error("there is no link between these nodes");
  check_names(links, stage.cluster());
  return links;
}

void check_shape(const std::string& target, const Cluster& cluster) {
  const Shape* const shape = find_shape(target);
  if (shape == nullptr || cluster.servers().size() >= shape->servers) return;
  throw Error(fmt::format("\"{}\" needs at least {} servers, and this cluster has {}; use holder, server or halves",
                          target, shape->servers, cluster.servers().size()));
}

std::vector<Link> parse_links(const std::string& text) {
  std::vector<Link> links;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('+', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::size_t at = part.find_first_of(">-");
    if (at == std::string::npos || at == 0 || at + 1 == part.size()) {
      throw UsageError(fmt::format("\"{}\" is no link; write a>b for one way, a-b for both, joined by +", part));
    }
    const std::string from = part.substr(0, at);
    const std::string to = part.substr(at + 1);
    links.push_back({from, to});
    if (part[at] == '-') links.push_back({to, from});
    start = end + 1;
  }
  return links;
}

}  // namespace holdfast
