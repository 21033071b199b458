#include "clusters/local/fabric.h"

#include <fmt/format.h>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::size_t kController = 254;  // its host number

}  // namespace

std::string Fabric::address_of(std::size_t host) const {
  return fmt::format("10.99.{}.{}", number_, host);
}

std::string Fabric::address6_of(std::size_t host) const {
  return fmt::format("fd99:0:0:{:x}::{:x}", number_, host);
}

void Fabric::plug_in(const std::vector<Plug>& plugs) {
  HOLDFAST_CHECK(switch_ == nullptr, "all nodes are plugged in at once");
  std::vector<Station> stations;
  for (std::size_t port = 0; port <= plugs.size(); ++port) {
    const std::size_t host = port == 0 ? kController : port;
    const Mac mac = {2, 0x99, 0, 0, static_cast<std::uint8_t>(number_), static_cast<std::uint8_t>(port)};
    stations.push_back({mac, address_of(host), address6_of(host)});
  }
  std::vector<std::unique_ptr<Tap>> taps;
  taps.push_back(std::make_unique<Tap>(0, fmt::format("hf{}", number_), stations[0], stations));
  for (std::size_t i = 0; i < plugs.size(); ++i) {
    ports_[plugs[i].node] = i + 1;
    taps.push_back(std::make_unique<Tap>(plugs[i].pid, "eth0", stations[i + 1], stations));
  }
  switch_ = std::make_unique<Switch>(std::move(taps), seed_);
}

std::size_t Fabric::port_of(const std::string& node) const {
  const auto found = ports_.find(node);
  if (found == ports_.end()) throw Error(fmt::format("there is no node {} at the switch", node));
  return found->second;
}

void Fabric::shape(std::span<const ShapedLink> links) {
  std::vector<Switch::LinkShape> shapes;
  for (const ShapedLink& shaped : links) {
    shapes.push_back({port_of(shaped.link.from), port_of(shaped.link.to), shaped.policy});
  }
  switch_->shape(shapes);
}

void Fabric::cut(std::span<const CutLink> links) {
  std::vector<ShapedLink> shaped;
  for (const CutLink& link : links) shaped.push_back({link, {.cut = true}});
  if (!links.empty()) dropped_before_ += dropped();
  shape(shaped);
}

std::uint64_t Fabric::dropped() {
  std::uint64_t sum = 0;
  for (const LinkCounts& counts : switch_->counts()) sum += counts.dropped;
  return sum - dropped_before_;
}

LinkCounts Fabric::counts(std::span<const Link> links) {
  const std::vector<LinkCounts> all = switch_->counts();
  LinkCounts sum;
  for (const Link& link : links) sum += all[port_of(link.from) * switch_->ports() + port_of(link.to)];
  return sum;
}

}  // namespace holdfast
