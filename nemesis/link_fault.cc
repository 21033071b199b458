#include "nemesis/link_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/log.h"
#include "nemesis/links.h"

namespace holdfast {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// A way to see whether packets pass again: a connection between the ends of a healed link, one of which is a server.
struct Probe {
  Node* from = nullptr;
  std::string address;
  std::string port;
};

Probe probe_for(Stage& stage, const std::vector<Link>& links) {
  const std::vector<Node*> nodes = stage.cluster().all();
  const auto find = [](std::span<Node* const> among, const std::string& name) -> Node* {
    const auto found = std::ranges::find(among, name, [](const Node* node) { return node->name(); });
    return found == among.end() ? nullptr : *found;
  };
  for (const Link& link : links) {
    for (const auto& [near, far] : {std::pair(link.from, link.to), std::pair(link.to, link.from)}) {
      const Node* const server = find(stage.cluster().servers(), far);
      Node* const from = find(nodes, near);
      if (server == nullptr || from == nullptr) continue;
      const std::string endpoint = stage.server().endpoint(*server);
      const std::size_t colon = endpoint.rfind(':');
      return {from, endpoint.substr(0, colon), endpoint.substr(colon + 1)};
    }
  }
  return {};
}

// Puts a layer on and takes it off again, at a steady pace, until it is destroyed.
class Flapper {
 public:
  Flapper(Network& network, std::vector<ShapedLink> links, nanoseconds period)
      : network_(network), links_(std::move(links)), half_(period / 2) {
    turn_bad();
    thread_ = std::make_unique<std::thread>([this] { work(); });
  }
  Flapper(const Flapper&) = delete;
  Flapper& operator=(const Flapper&) = delete;
  ~Flapper() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_->join();
  }
  [[nodiscard]] std::uint64_t turns() {
    const std::lock_guard lock(mutex_);
    return turns_;
  }

 private:
  void turn_bad() { layer_ = network_.impose(links_); }
  void work() {
    std::unique_lock lock(mutex_);
    bool bad = true;
    for (auto next = Clock::now() + half_; !changed_.wait_until(lock, next, [this] { return stopping_; });
         next += half_) {
      ++turns_;
      bad = !bad;
      try {
        bad ? turn_bad() : network_.lift(layer_);
      } catch (const Error& error) {
        log(LogLevel::error, "", error.what());
        break;
      }
    }
    network_.lift(layer_);
  }

  Network& network_;
  std::vector<ShapedLink> links_;
  nanoseconds half_;
  Network::Layer layer_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::uint64_t turns_ = 0;
  std::unique_ptr<std::thread> thread_;
};

class BadLinks final : public ActiveFault {
 public:
  BadLinks(Network& network, std::vector<Link> links, const LinkPolicy& policy, const LinkEvidence& evidence,
           nanoseconds flap, Probe probe)
      : network_(network),
        links_(std::move(links)),
        evidence_(evidence),
        probe_(std::move(probe)),
        before_(network.counts(links_)) {
    std::vector<ShapedLink> shaped;
    for (const Link& link : links_) shaped.push_back({link, policy});
    if (flap.count() > 0) {
      flapper_ = std::make_unique<Flapper>(network_, std::move(shaped), flap);
    } else {
      layer_ = network_.impose(std::move(shaped));
    }
  }
  BadLinks(const BadLinks&) = delete;
  BadLinks& operator=(const BadLinks&) = delete;
  ~BadLinks() override {
    try {
      BadLinks::heal();
    } catch (const Error& error) {
      log(LogLevel::error, "", error.what());
    }
  }
  [[nodiscard]] Value target() const override {
    Value links = Value::array();
    for (const Link& link : links_) links.push_back({link.from, link.to});
    return {{"links", links}};
  }
  Effect effect() override {
    const LinkCounts counts = network_.counts(links_).since(before_);
    const std::uint64_t hit = counts.*evidence_.counter;
    Value evidence = {{evidence_.name, hit}};
    if (network_.can_shape()) evidence["packets_seen"] = counts.seen;
    if (counts.lost > 0) evidence["packets_lost_unasked"] = counts.lost;
    if (flapper_ != nullptr) evidence["turns"] = flapper_->turns();
    return {hit > 0, std::move(evidence)};
  }
  Effect heal() override {
    if (std::exchange(healed_, true)) return {true, {}};
    flapper_.reset();
    network_.lift(layer_);
    if (probe_.from == nullptr) return {true, {{"probe", "no server at an end of these links"}}};
    const CommandResult answer = probe_.from->run(
        {{"bash", "-c", fmt::format("exec 3<>/dev/tcp/{}/{}", probe_.address, probe_.port)}, {}}, seconds(5));
    return {answer.ok(), {{"probe", fmt::format("{} reaches {}", probe_.from->name(), probe_.address)}}};
  }

 private:
  Network& network_;
  std::vector<Link> links_;
  LinkEvidence evidence_;
  Probe probe_;
  LinkCounts before_;
  Network::Layer layer_ = 0;
  std::unique_ptr<Flapper> flapper_;
  bool healed_ = false;
};

class LinkFault final : public Fault {
 public:
  LinkFault(std::string target, const LinkPolicy& policy, const LinkEvidence& evidence, nanoseconds flap)
      : target_(std::move(target)), policy_(policy), evidence_(evidence), flap_(flap) {}

  void rehearse(Cluster& cluster) override {
    check_shape(target_, cluster);
    if (policy_ != LinkPolicy{.cut = true} && !cluster.network().can_shape()) {
      throw Error("hosts over SSH can have their links cut and nothing else; use partition, or local nodes");
    }
  }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> lane, Rng& rng) override {
    std::vector<Link> links = resolve_links(target_, stage, lane, rng);
    Probe probe = probe_for(stage, links);
    return std::make_unique<BadLinks>(stage.cluster().network(), std::move(links), policy_, evidence_, flap_,
                                      std::move(probe));
  }

 private:
  std::string target_;
  LinkPolicy policy_;
  LinkEvidence evidence_;
  nanoseconds flap_;
};

}  // namespace

std::unique_ptr<Fault> make_link_fault(std::string target, const LinkPolicy& policy, const LinkEvidence& evidence,
                                       nanoseconds flap) {
  return std::make_unique<LinkFault>(std::move(target), policy, evidence, flap);
}

}  // namespace holdfast
