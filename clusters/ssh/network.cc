#include "clusters/ssh/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "clusters/ssh/at_once.h"
#include "clusters/ssh/node.h"
#include "clusters/ssh/quote.h"

namespace holdfast {
namespace {

bool is_ipv4(const std::string& address) {
  in_addr parsed{};
  return inet_pton(AF_INET, address.c_str(), &parsed) == 1;
}

}  // namespace

SshNetwork::SshNetwork(const std::vector<SshNode*>& nodes) {
  for (SshNode* node : nodes) hosts_.push_back({.node = node, .cut_from = {}, .dead_man = 0});
}

SshNetwork::~SshNetwork() {
  try {
    cut({});
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Out of reach: the host's dead-man heals it.
  }
}

std::string SshNetwork::rules(const Host& host) const {
  std::string spared;
  if (is_ipv4(host.node->controller_address()))
    spared += fmt::format("ip saddr {} tcp dport {} accept\n", host.node->controller_address(), host.node->ssh_port());
  // The controller may itself be on this host; then the others' answers to it arrive here.
  for (const Host& other : hosts_) {
    if (other.node->controller_address() == host.node->address() && other.node != host.node)
      spared += fmt::format("ip saddr {} tcp sport {} accept\n", other.node->address(), other.node->ssh_port());
  }
  // Naming the table before its deletion makes the deletion succeed whether or not there was one.
  return fmt::format(
      "table inet holdfast\ndelete table inet holdfast\ntable inet holdfast {{\n"
      "set cut {{ type ipv4_addr; elements = {{ {} }}; }}\ncounter dropped {{ }}\n"
      "chain arriving {{ type filter hook input priority -300; policy accept;\n{}"
      "ip saddr @cut counter name \"dropped\" drop\n}}\n}}\n",
      fmt::join(host.cut_from, ", "), spared);
}

void SshNetwork::apply(Host& host) const {
  Control& control = host.node->control();
  constexpr const char* kHeal = "nft delete table inet holdfast 2>/dev/null";
  if (host.cut_from.empty()) {
    if (host.dead_man == 0) return;
    control.must_run(fmt::format("nft list table inet holdfast >/dev/null 2>&1 || exit 0; {}", kHeal),
                     "heal the network");
    (void)control.run(Control::disarm(host.dead_man));
    host.dead_man = 0;
    return;
  }
  const std::string disarm = host.dead_man == 0 ? ":" : Control::disarm(host.dead_man);
  const CommandResult result = control.run(
      fmt::format("command -v nft >/dev/null || {{ echo nft is missing, install the package nftables; exit 127; }}; "
                  "printf %s {} | nft -f - && {{ {}; {}; }}",
                  quote(rules(host)), disarm, control.arm(kHeal)));
  if (!result.ok()) {
    std::string why = result.output;
    std::replace(why.begin(), why.end(), '\n', ' ');
    const bool denied = why.find("not permitted") != std::string::npos;
    throw Error(fmt::format("{}: cut links with nft: {}{}", host.node->name(), why,
                            denied ? "; log in as root, or as a user with CAP_NET_ADMIN" : ""));
  }
  std::from_chars(result.output.data(), result.output.data() + result.output.size(), host.dead_man);
}

void SshNetwork::cut(std::span<const CutLink> links) {
  const std::lock_guard lock(mutex_);
  const auto find = [this](const std::string& name) -> Host& {
    const auto found =
        std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) { return host.node->name() == name; });
    if (found == hosts_.end()) throw Error(fmt::format("cut a link of {}: no such node", name));
    return *found;
  };
  std::vector<std::set<std::string>> wanted(hosts_.size());
  for (const CutLink& link : links) {
    Host& to = find(link.to);
    const std::string& from = find(link.from).node->address();
    if (from == to.node->address()) continue;  // two names of one host
    if (!is_ipv4(from))
      throw Error(fmt::format("{}: its address {} is not IPv4, which partitions need", link.from, from));
    wanted[static_cast<std::size_t>(&to - hosts_.data())].insert(from);
  }
  std::vector<std::function<void()>> jobs;
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    hosts_[index].cut_from = std::move(wanted[index]);
    jobs.emplace_back([this, index] { apply(hosts_[index]); });
  }
  do_at_once(jobs);
}

std::uint64_t SshNetwork::dropped() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> counts(hosts_.size());
  std::vector<std::function<void()>> jobs;
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    if (hosts_[index].dead_man == 0) continue;
    jobs.emplace_back([this, index, &counts] {
      Control& control = hosts_[index].node->control();
      const std::string text = control.must_run("nft list counter inet holdfast dropped", "count dropped packets");
      constexpr std::string_view kWord = "packets ";
      const std::size_t at = text.find(kWord);
      if (at == std::string::npos) throw Error(fmt::format("{}: nft printed no packet count", control.host()));
      std::from_chars(text.data() + at + kWord.size(), text.data() + text.size(), counts[index]);
    });
  }
  do_at_once(jobs);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

}  // namespace holdfast
