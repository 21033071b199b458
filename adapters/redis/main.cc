// holdfast-redis-client VARIANT: the ways in which people build a lock on one Redis server, as the literature has them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "adapters/redis/variants.h"

namespace {

struct Variant {
  const char* name;
  const char* summary;
  std::unique_ptr<holdfast::Adapter> (*make)();
};

constexpr std::array kVariants = {
    Variant{.name = "setnx", .summary = "SETNX / DEL, no time to live", .make = holdfast::make_setnx},
    Variant{.name = "setnx-expire", .summary = "SETNX, then PEXPIRE / DEL", .make = holdfast::make_setnx_expire},
    Variant{.name = "setpx-del", .summary = "SET NX PX / DEL", .make = holdfast::make_setpx_del},
    Variant{.name = "setpx-getdel", .summary = "SET NX PX / GET, compare, DEL", .make = holdfast::make_setpx_getdel},
    Variant{.name = "setpx-lua", .summary = "SET NX PX / Lua compare-and-delete", .make = holdfast::make_setpx_lua},
    Variant{.name = "setpx-lua-watchdog",
            .summary = "setpx-lua, renewed every third of the lease",
            .make = holdfast::make_setpx_lua_watchdog},
    Variant{.name = "setpx-lua-fenced",
            .summary = "setpx-lua with a fencing token",
            .make = holdfast::make_setpx_lua_fenced},
    Variant{
        .name = "register", .summary = "no lock: read, write and cas of plain keys", .make = holdfast::make_register},
};

constexpr int kBadArguments = 254;

int usage() {
  std::fputs("usage: holdfast-redis-client VARIANT, where VARIANT is one of\n", stderr);
  for (const Variant& variant : kVariants) std::fprintf(stderr, "  %-20s %s\n", variant.name, variant.summary);
  return kBadArguments;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return usage();
  const auto* const found = std::find_if(kVariants.begin(), kVariants.end(), [&](const Variant& variant) {
    return std::string_view(variant.name) == argv[1];
  });
  if (found == kVariants.end()) return usage();
  const auto adapter = found->make();
  return holdfast::run_adapter(*adapter);
}
