// A cluster of local nodes: servers n1, n2, …, the guarded resource's node r1, clients c1, c2, …
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clusters/local/fabric.h"
#include "clusters/local/node.h"

namespace holdfast {

struct LocalClusterOptions {
  std::size_t servers = 1;
  std::size_t clients = 5;
  std::string program_folder;  // where our own client programs are on this machine
  std::uint64_t seed = 0;      // of what frames meet on their way
};

class LocalCluster final : public Cluster {
 public:
  // Call while the process has one thread. Nodes set themselves up in parallel.
  explicit LocalCluster(const LocalClusterOptions& options);
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;
  ~LocalCluster() override;

  [[nodiscard]] std::span<Node* const> servers() const override { return servers_; }
  [[nodiscard]] std::span<Node* const> clients() const override { return clients_; }
  [[nodiscard]] Node& resource() const override { return *resource_; }
  [[nodiscard]] Network& network() override { return *fabric_; }
  [[nodiscard]] std::string describe() const override;

 private:
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::unique_ptr<LocalNode>> nodes_;
  std::vector<Node*> servers_;
  std::vector<Node*> clients_;
  Node* resource_ = nullptr;
};

}  // namespace holdfast
