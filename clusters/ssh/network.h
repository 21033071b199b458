// SshNetwork: partitions between hosts, made with one nftables table of our own on each of them.
//
// Each host drops, on arrival and before any other rule, what comes from the addresses it is cut from. All hosts are
// changed at once, each in one transaction, but there is no shared instant: they differ by some milliseconds. The table
// `inet holdfast` is ours, others are never touched, and our own SSH connections pass through every cut. IPv4 only.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/node.h"

namespace holdfast {

class SshNode;

class SshNetwork final : public Network {
 public:
  explicit SshNetwork(const std::vector<SshNode*>& nodes);
  SshNetwork(const SshNetwork&) = delete;
  SshNetwork& operator=(const SshNetwork&) = delete;
  ~SshNetwork() override;  // heals

  void cut(std::span<const CutLink> links) override;
  [[nodiscard]] std::uint64_t dropped() override;

 private:
  struct Host {
    SshNode* node = nullptr;
    std::set<std::string> cut_from;  // addresses
    std::int64_t dead_man = 0;       // 0: no table of ours there
  };
  void apply(Host& host) const;
  [[nodiscard]] std::string rules(const Host& host) const;

  std::mutex mutex_;
  std::vector<Host> hosts_;
};

}  // namespace holdfast
