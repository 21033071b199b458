#include "nemesis/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

using std::chrono::seconds;

void cut_both_ways(std::vector<CutLink>& links, const std::string& a, const std::string& b) {
  if (a == b) return;  // roles may share a node, and a node is never cut from itself
  links.push_back({a, b});
  links.push_back({b, a});
}

// A way to see whether packets pass again: a connection from one end of a healed link to a server at the other.
struct Probe {
  Node* from = nullptr;
  std::string address;
  std::string port;
};

class Partition final : public ActiveFault {
 public:
  Partition(Network& network, std::vector<CutLink> links, Probe probe)
      : network_(network), links_(std::move(links)), probe_(std::move(probe)) {
    network_.cut(links_);
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  ~Partition() override {
    try {
      Partition::heal();
    } catch (const Error& error) {
      log(LogLevel::error, "", error.what());
    }
  }
  [[nodiscard]] Value target() const override {
    Value links = Value::array();
    for (const CutLink& link : links_) links.push_back({link.from, link.to});
    return {{"links", links}};
  }
  Effect effect() override {
    const std::uint64_t dropped = network_.dropped();
    return {dropped > 0, {{"packets_dropped", dropped}}};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    network_.cut({});
    if (probe_.from == nullptr) return {true, {{"probe", "no server at an end of these links"}}};
    const CommandResult answer = probe_.from->run(
        {{"bash", "-c", fmt::format("exec 3<>/dev/tcp/{}/{}", probe_.address, probe_.port)}, {}}, seconds(5));
    return {answer.ok(), {{"probe", fmt::format("{} reaches {}", probe_.from->name(), probe_.address)}}};
  }

 private:
  Network& network_;
  std::vector<CutLink> links_;
  Probe probe_;
  bool healed_ = false;
};

Probe probe_for(Stage& stage, const std::vector<CutLink>& links) {
  const std::vector<Node*> nodes = stage.cluster().all();
  for (const CutLink& link : links) {
    for (Node* server : stage.cluster().servers()) {
      if (server->name() != link.to) continue;
      const auto from = std::find_if(nodes.begin(), nodes.end(), [&](Node* node) { return node->name() == link.from; });
      if (from == nodes.end()) continue;
      const std::string endpoint = stage.server().endpoint(*server);
      const std::size_t colon = endpoint.rfind(':');
      return {*from, endpoint.substr(0, colon), endpoint.substr(colon + 1)};
    }
  }
  return {};
}

void check_names(const std::vector<CutLink>& links, Cluster& cluster) {
  const std::vector<Node*> nodes = cluster.all();
  for (const CutLink& link : links) {
    for (const std::string& name : {link.from, link.to}) {
      const auto named = [&](Node* node) { return node->name() == name; };
      if (std::none_of(nodes.begin(), nodes.end(), named)) {
        throw UsageError(
            fmt::format("partition: there is no node \"{}\" in this cluster ({})", name, cluster.describe()));
      }
    }
  }
}

class PartitionFault final : public Fault {
 public:
  explicit PartitionFault(std::string target) : target_(std::move(target)) {}

  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) override {
    std::vector<CutLink> links = grudge(stage, lane, rng);
    if (links.empty()) throw Error("there is no link to cut between these nodes");
    check_names(links, stage.cluster());
    Probe probe = probe_for(stage, links);
    return std::make_unique<Partition>(stage.cluster().network(), std::move(links), std::move(probe));
  }

 private:
  [[nodiscard]] std::vector<CutLink> grudge(Stage& stage, std::optional<std::size_t> lane, Rng& rng) const {
    Cluster& cluster = stage.cluster();
    std::vector<CutLink> links;
    if (target_ == "holder" || target_ == "replies") {
      HOLDFAST_CHECK(lane.has_value(), "a plan that hits the holder is set off by a client");
      const std::string holder = stage.client(*lane).node->name();
      for (const Node* server : cluster.servers()) {
        if (target_ == "holder") {
          cut_both_ways(links, holder, server->name());
        } else if (holder != server->name()) {
          links.push_back({server->name(), holder});
        }
      }
    } else if (target_ == "server") {
      const std::vector<Node*> primaries = stage.server().primaries(cluster.servers());
      if (primaries.empty()) throw Error("there is no primary to cut off");
      const Node* primary = primaries[rng.below(primaries.size())];
      for (const Node* client : cluster.clients()) cut_both_ways(links, primary->name(), client->name());
    } else if (target_ == "halves") {
      std::vector<Node*> nodes = cluster.all();
      for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[rng.below(i)]);
      for (std::size_t i = 0; i < nodes.size() / 2; ++i) {
        for (std::size_t j = nodes.size() / 2; j < nodes.size(); ++j)
          cut_both_ways(links, nodes[i]->name(), nodes[j]->name());
      }
    } else {
      return parse_links(target_);
    }
    return links;
  }

  std::string target_;
};

}  // namespace

std::vector<CutLink> parse_links(const std::string& text) {
  std::vector<CutLink> links;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('+', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::size_t at = part.find_first_of(">-");
    if (at == std::string::npos || at == 0 || at + 1 == part.size()) {
      throw UsageError(
          fmt::format("partition: \"{}\" is no link; write a>b for one way, a-b for both, joined by +", part));
    }
    const std::string from = part.substr(0, at);
    const std::string to = part.substr(at + 1);
    links.push_back({from, to});
    if (part[at] == '-') links.push_back({to, from});
    start = end + 1;
  }
  return links;
}

std::unique_ptr<Fault> make_partition(const std::string& target) {
  return std::make_unique<PartitionFault>(target);
}

}  // namespace holdfast
