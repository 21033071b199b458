// SshCluster: hosts that somebody else runs, reached over SSH.
//
// Nodes are given in order and take their roles in that order: the first `server_nodes` are servers, the next one
// carries the guarded resource, the rest are clients. With fewer nodes roles share them: one node less and the last one
// is both resource and client; as many nodes as servers and the last server also carries the resource, and clients
// run on all of them. What a run puts on a host (a folder, processes, one nftables table) dies with the run: by the
// destructor, or, when the controller vanished, by a dead-man process on the host.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/node.h"

namespace holdfast {

class SshNode;

struct SshOptions {
  std::vector<std::string> nodes;                  // host names, or aliases of the ssh config
  std::filesystem::path ssh_config;                // empty: ~/.ssh/config and the system's
  std::chrono::milliseconds connect_limit{10000};  // for name, connection, key exchange and login together
  std::filesystem::path program_folder;            // its files holdfast-* go to every node; empty: none
  std::size_t server_nodes = 1;
  std::string run_id;                         // part of the folder's name on the hosts; empty: one is made up
  std::string password;                       // empty: $HOLDFAST_SSH_PASSWORD; never from the command line
  std::chrono::milliseconds dead_man{60000};  // a host heals itself when the controller is silent for so long
};

class SshCluster : public Cluster {
 public:
  // Connects to all nodes at once. Throws one Error with one line for each node that failed.
  explicit SshCluster(const SshOptions& options);
  SshCluster(const SshCluster&) = delete;
  SshCluster& operator=(const SshCluster&) = delete;
  ~SshCluster() override;

  [[nodiscard]] std::span<Node* const> servers() const override;
  [[nodiscard]] std::span<Node* const> clients() const override;
  [[nodiscard]] Node& resource() const override;
  [[nodiscard]] Network& network() override;
  [[nodiscard]] std::string describe() const override;

 private:
  std::vector<std::unique_ptr<SshNode>> nodes_;
  std::vector<Node*> servers_;
  std::vector<Node*> clients_;
  Node* resource_ = nullptr;
  std::unique_ptr<Network> network_;
};

enum class SshLeftovers { stale, all };  // stale: the controller gave no sign of life for a day

// Ends what earlier runs left on the hosts: their processes, their folders, our nftables table. Returns one line for
// each thing that was removed. `all` takes the run of a living controller away too.
std::vector<std::string> clean_ssh_nodes(const SshOptions& options, SshLeftovers leftovers);

}  // namespace holdfast
