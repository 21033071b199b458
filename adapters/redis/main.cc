// holdfast-redis-client VARIANT: the ways in which people build a lock on one Redis server, as the literature has them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "adapters/redis/variants.h"

namespace {

struct Variant {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<holdfast::Adapter> (*make)();
};

constexpr std::array kVariants = {
    Variant{"setnx", "SETNX / DEL, no time to live", holdfast::make_setnx},
    Variant{"setnx-expire", "SETNX, then PEXPIRE / DEL", holdfast::make_setnx_expire},
    Variant{"setpx-del", "SET NX PX / DEL", holdfast::make_setpx_del},
    Variant{"setpx-getdel", "SET NX PX / GET, compare, DEL", holdfast::make_setpx_getdel},
    Variant{"setpx-lua", "SET NX PX / Lua compare-and-delete", holdfast::make_setpx_lua},
    Variant{"setpx-lua-watchdog", "setpx-lua, renewed every third of the lease", holdfast::make_setpx_lua_watchdog},
    Variant{"setpx-lua-fenced", "setpx-lua with a fencing token", holdfast::make_setpx_lua_fenced},
    Variant{"register", "no lock: read, write and cas of plain keys", holdfast::make_register},
};

constexpr int kBadArguments = 254;

int usage() {
  std::fputs("usage: holdfast-redis-client VARIANT, where VARIANT is one of\n", stderr);
  for (const Variant& variant : kVariants)
    std::fprintf(stderr, "  %-20s %s\n", variant.name.data(), variant.summary.data());
  return kBadArguments;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return usage();
  const auto* const found =
      std::find_if(kVariants.begin(), kVariants.end(), [&](const Variant& variant) { return variant.name == argv[1]; });
  if (found == kVariants.end()) return usage();
  const auto adapter = found->make();
  return holdfast::run_adapter(*adapter);
}
