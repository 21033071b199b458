#include "clusters/local/cluster.h"

#include <fmt/format.h>

#include "clusters/local/world.h"
#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::size_t kNodeLimit = 250;  // a /24 without the controller's own address

unsigned next_fabric_number() {
  static unsigned number = 0;
  return number++ % 256;
}

}  // namespace

LocalCluster::LocalCluster(const LocalClusterOptions& options) {
  const std::size_t count = options.servers + 1 + options.clients;
  if (count > kNodeLimit) {
    throw UsageError(fmt::format("{} local nodes are too many: at most {}", count, kNodeLimit));
  }
  enter_private_world();
  fabric_ = std::make_unique<Fabric>(next_fabric_number(), options.seed);
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= options.servers; ++i) names.push_back(fmt::format("n{}", i));
  names.emplace_back("r1");
  for (std::size_t i = 1; i <= options.clients; ++i) names.push_back(fmt::format("c{}", i));
  std::string hosts = "127.0.0.1 localhost\n";
  for (std::size_t i = 0; i < count; ++i) {
    // Two names, because a server may listen on one address alone.
    hosts +=
        fmt::format("{} {}\n{} ip6-{}\n", fabric_->address_of(i + 1), names[i], fabric_->address6_of(i + 1), names[i]);
  }
  std::vector<Fabric::Plug> plugs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string address = fabric_->address_of(i + 1);
    nodes_.push_back(std::make_unique<LocalNode>(LocalNodeOptions{names[i], address, hosts, options.program_folder}));
    plugs.push_back({names[i], nodes_.back()->init()});
  }
  fabric_->plug_in(plugs);
  for (const auto& node : nodes_) node->begin_start();
  for (const auto& node : nodes_) node->finish_start();
  for (std::size_t i = 0; i < count; ++i) {
    if (i < options.servers) {
      servers_.push_back(nodes_[i].get());
    } else if (i == options.servers) {
      resource_ = nodes_[i].get();
    } else {
      clients_.push_back(nodes_[i].get());
    }
  }
}

LocalCluster::~LocalCluster() {
  for (const auto& node : nodes_) node->begin_stop();
}

std::string LocalCluster::describe() const {
  return fmt::format("local: {} server, 1 resource, {} client nodes", servers_.size(), clients_.size());
}

}  // namespace holdfast
