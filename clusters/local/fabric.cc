#include "clusters/local/fabric.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
extern "C" {
#include <nftables/libnftables.h>
}

#include "clusters/local/interface.h"
#include "harness/error.h"

namespace holdfast {

namespace {

// One `ip` process for all of it: each fork of it costs more than what it does.
void ip_batch(const std::string& commands) {
  FILE* ip = ::popen("ip -batch - 2>&1 >/dev/null", "we");
  if (ip == nullptr) throw system_error("start ip");
  std::fputs(commands.c_str(), ip);
  const int status = ::pclose(ip);
  if (status == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw Error("the program ip is missing: apt-get install iproute2");
  }
  throw Error(fmt::format("ip failed with status {} while it made the nodes' network; its message is above", status));
}

}  // namespace

void Fabric::FreeContext::operator()(nft_ctx* context) const {
  ::nft_ctx_free(context);
}

Fabric::Fabric(unsigned number) : number_(number) {
  ip_batch(
      fmt::format("link add hf{0} type bridge forward_delay 0 stp_state 0\n"
                  "addr add {1}/24 dev hf{0}\n"
                  "link set hf{0} up\n",
                  number_, address_of(254)));
}

Fabric::~Fabric() {
  try {
    rules_.reset();
    ip_batch(fmt::format("link del hf{}\n", number_));
  } catch (const Error&) {
    // The namespace goes with the process in any case.
  }
}

std::string Fabric::address_of(std::size_t host) const {
  return fmt::format("10.99.{}.{}", number_, host);
}

void Fabric::plug_in(const std::vector<Plug>& plugs) {
  std::string commands;
  for (std::size_t i = 0; i < plugs.size(); ++i) {
    addresses_[plugs[i].node] = plugs[i].address;
    const std::string cable = fmt::format("hf{}-{}", number_, i + 1);
    commands += fmt::format("link add {0} type veth peer name eth0 netns {1}\nlink set {0} master hf{2} up\n", cable,
                            plugs[i].pid, number_);
  }
  ip_batch(commands);
}

std::string Fabric::nft(const std::string& commands) {
  if (rules_ == nullptr) {
    rules_.reset(::nft_ctx_new(NFT_CTX_DEFAULT));
    ::nft_ctx_buffer_output(rules_.get());
    ::nft_ctx_buffer_error(rules_.get());
    // Before any rule that accepts established connections could let a "cut" connection live on.
    nft(
        fmt::format("add table bridge holdfast{0}\n"
                    "add counter bridge holdfast{0} dropped\n"
                    "add set bridge holdfast{0} cut {{ type ipv4_addr . ipv4_addr; }}\n"
                    "add chain bridge holdfast{0} forward {{ type filter hook forward priority -300; }}\n"
                    "add rule bridge holdfast{0} forward ip saddr . ip daddr @cut counter name dropped drop\n",
                    number_));
  }
  if (::nft_run_cmd_from_buffer(rules_.get(), commands.c_str()) != 0) {
    const std::string why = ::nft_ctx_get_error_buffer(rules_.get());
    throw Error(fmt::format("cannot change the drop rules: {}; the kernel needs nf_tables with the bridge family",
                            why.substr(0, why.find('\n'))));
  }
  return ::nft_ctx_get_output_buffer(rules_.get());
}

void Fabric::cut(std::span<const CutLink> links) {
  std::string commands = fmt::format("flush set bridge holdfast{}\n", fmt::format("{} cut", number_));
  for (const CutLink& link : links) {
    commands += fmt::format("add element bridge holdfast{} cut {{ {} . {} }}\n", number_, addresses_.at(link.from),
                            addresses_.at(link.to));
  }
  if (!links.empty()) nft(fmt::format("reset counter bridge holdfast{} dropped\n", number_));
  nft(commands);
}

std::uint64_t Fabric::dropped() {
  const std::string listing = nft(fmt::format("list counter bridge holdfast{} dropped\n", number_));
  const std::size_t at = listing.find("packets ");
  if (at == std::string::npos) throw Error("cannot read the counter of dropped packets");
  return std::stoull(listing.substr(at + 8));
}

}  // namespace holdfast
