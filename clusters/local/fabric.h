// The network between local nodes: a bridge in the controller's private namespace, one cable per node, and one place
// where packets are dropped. Because there is only one, a whole partition takes effect in a single transaction.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/node.h"

struct nft_ctx;

namespace holdfast {

class Fabric final : public Network {
 public:
  struct Plug {
    std::string node;
    std::string address;
    int pid;  // of a process in the node's network namespace
  };

  // `number` makes names and addresses of fabrics in one process differ: 10.99.<number>.0/24.
  explicit Fabric(unsigned number);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric() override;

  [[nodiscard]] std::string address_of(std::size_t host) const;  // host from 1 to 250
  void plug_in(const std::vector<Plug>& plugs);

  void cut(std::span<const CutLink> links) override;
  [[nodiscard]] std::uint64_t dropped() override;

 private:
  std::string nft(const std::string& commands);

  unsigned number_;
  std::map<std::string, std::string> addresses_;  // by node
  struct FreeContext {
    void operator()(nft_ctx* context) const;
  };
  std::unique_ptr<nft_ctx, FreeContext> rules_;  // made at the first cut
};

}  // namespace holdfast
