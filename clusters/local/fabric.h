// The network between local nodes: our own switch, with a port for each node and one for the controller itself. Because
// every frame passes one place, a fault on any number of links takes effect between two frames.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clusters/local/switch/switch.h"
#include "harness/network.h"

namespace holdfast {

class Fabric final : public Network {
 public:
  struct Plug {
    std::string node;
    int pid;  // of a process in the node's network namespace
  };

  // `number` makes names and addresses of fabrics in one process differ: 10.99.<number>.0/24, fd99:0:0:<number>::/64.
  // What frames meet on their way depends on the seed alone.
  Fabric(unsigned number, std::uint64_t seed) : number_(number), seed_(seed) {}
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric() override = default;

  [[nodiscard]] std::string address_of(std::size_t host) const;   // host from 1 to 250
  [[nodiscard]] std::string address6_of(std::size_t host) const;  // the same one's IPv6 address
  // Once, while this process has one thread: hosts 1, 2, … in this order. They may talk when it returns.
  void plug_in(const std::vector<Plug>& plugs);

  void cut(std::span<const CutLink> links) override;
  [[nodiscard]] std::uint64_t dropped() override;
  [[nodiscard]] LinkCounts counts(std::span<const Link> links) override;
  [[nodiscard]] bool can_shape() const override { return true; }
  [[nodiscard]] Switch& the_switch() { return *switch_; }

 protected:
  void shape(std::span<const ShapedLink> links) override;

 private:
  [[nodiscard]] std::size_t port_of(const std::string& node) const;

  unsigned number_;
  std::uint64_t seed_;
  std::map<std::string, std::size_t> ports_;  // by node; port 0 is the controller's
  std::unique_ptr<Switch> switch_;
  std::uint64_t dropped_before_ = 0;  // when links were last cut
};

}  // namespace holdfast
