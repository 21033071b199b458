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
    Variant{"setpx-lua", "SET NX PX / Lua compare-and-delete", holdfast::make_setpx_lua},
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
