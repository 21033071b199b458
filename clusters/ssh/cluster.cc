#include "clusters/ssh/cluster.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <random>
#include <set>

#include "clusters/ssh/at_once.h"
#include "clusters/ssh/network.h"
#include "clusters/ssh/node.h"
#include "harness/error.h"

namespace holdfast {
namespace {

void check(const SshOptions& options) {
  if (options.nodes.empty()) throw UsageError("--nodes: no host given; write --nodes host1,host2,…");
  std::set<std::string> names;
  for (const std::string& name : options.nodes) {
    if (name.empty()) throw UsageError("--nodes: an empty host name; write --nodes host1,host2,…");
    if (!names.insert(name).second)
      throw UsageError(fmt::format("--nodes: {} is given twice; name each host once", name));
  }
  if (options.nodes.size() < options.server_nodes) {
    throw UsageError(fmt::format("--nodes: the system needs {} servers and {} hosts are given; name at least {}",
                                 options.server_nodes, options.nodes.size(), options.server_nodes));
  }
}

std::string fresh_run_id() {
  return fmt::format("{:08x}", std::random_device{}());
}

}  // namespace

SshCluster::SshCluster(const SshOptions& options) : nodes_(options.nodes.size()) {
  check(options);
  SshOptions shared = options;
  if (shared.run_id.empty()) shared.run_id = fresh_run_id();
  std::vector<std::function<void()>> jobs;
  jobs.reserve(nodes_.size());
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    jobs.emplace_back(
        [this, index, &shared] { nodes_[index] = std::make_unique<SshNode>(shared.nodes[index], shared); });
  }
  do_at_once(jobs);

  const std::size_t count = nodes_.size();
  const std::size_t servers = options.server_nodes;
  for (std::size_t index = 0; index < servers; ++index) servers_.push_back(nodes_[index].get());
  resource_ = nodes_[std::min(servers, count - 1)].get();
  std::size_t first_client = std::min(servers + 1, count - 1);
  if (count == servers) first_client = 0;
  for (std::size_t index = first_client; index < count; ++index) clients_.push_back(nodes_[index].get());

  std::vector<SshNode*> all;
  all.reserve(count);
  for (const auto& node : nodes_) all.push_back(node.get());
  network_ = std::make_unique<SshNetwork>(all);
}

SshCluster::~SshCluster() {
  network_.reset();
  std::vector<std::function<void()>> jobs;
  jobs.reserve(nodes_.size());
  for (auto& node : nodes_) jobs.emplace_back([&node] { node.reset(); });
  do_at_once(jobs);  // destructors: nothing to throw
}

std::span<Node* const> SshCluster::servers() const {
  return servers_;
}
std::span<Node* const> SshCluster::clients() const {
  return clients_;
}
Node& SshCluster::resource() const {
  return *resource_;
}
Network& SshCluster::network() {
  return *network_;
}

std::string SshCluster::describe() const {
  return fmt::format("ssh: {} server{}, 1 resource, {} client node{} on {} host{}", servers_.size(),
                     servers_.size() == 1 ? "" : "s", clients_.size(), clients_.size() == 1 ? "" : "s", nodes_.size(),
                     nodes_.size() == 1 ? "" : "s");
}

std::vector<std::string> clean_ssh_nodes(const SshOptions& options, SshLeftovers leftovers) {
  check(options);
  std::vector<std::string> removed;
  std::mutex mutex;
  std::vector<std::function<void()>> jobs;
  jobs.reserve(options.nodes.size());
  for (const std::string& host : options.nodes) {
    jobs.emplace_back([&, host] {
      Control control(session_options(host, options));
      std::vector<std::string> lines = clean_over_ssh(control, leftovers);
      const std::lock_guard lock(mutex);
      removed.insert(removed.end(), lines.begin(), lines.end());
    });
  }
  do_at_once(jobs);
  return removed;
}

}  // namespace holdfast
