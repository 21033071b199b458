#include "clusters/systems/registry.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "clusters/systems/redis.h"
#include "harness/error.h"
#include "harness/nearest.h"

namespace holdfast {

namespace {

SystemEntry redis_lock(std::string_view name, std::string_view summary, const char* variant,
                       std::vector<std::string_view> steps = {}) {
  return {.name = name,
          .summary = summary,
          .workloads = {"lock"},
          .steps = std::move(steps),
          .make_server = make_redis,
          .client = {"{programs}/holdfast-redis-client", variant}};
}

SystemEntry without_leases(SystemEntry entry) {
  entry.leases = false;
  return entry;
}

SystemEntry with_tokens(SystemEntry entry) {
  entry.tokens = true;
  return entry;
}

const std::array kSystems = {
    without_leases(redis_lock("redis-setnx", "SETNX to lock, DEL to unlock, no time limit", "setnx")),
    redis_lock("redis-setnx-expire", "SETNX, then PEXPIRE as a second command; DEL to unlock", "setnx-expire",
               {"setnx-done"}),
    redis_lock("redis-setpx-del", "SET NX PX; unlocked by a plain DEL, whoever holds it", "setpx-del"),
    redis_lock("redis-setpx-getdel", "SET NX PX with an owner; unlocked by GET, compare, DEL", "setpx-getdel",
               {"get-done"}),
    redis_lock("redis-setpx-lua", "SET NX PX with an owner; unlocked by compare-and-delete in Lua", "setpx-lua"),
    redis_lock("redis-setpx-lua-watchdog", "redis-setpx-lua that renews its lease every third of it",
               "setpx-lua-watchdog"),
    with_tokens(redis_lock("redis-setpx-lua-fenced", "redis-setpx-lua with a fencing token that the resource checks",
                           "setpx-lua-fenced")),
    SystemEntry{.name = "redis-register",
                .summary = "GET and SET of plain keys on one server",
                .leases = false,
                .workloads = {"register"},
                .steps = {},
                .make_server = make_redis,
                .client = {"{programs}/holdfast-redis-client", "register"}},
};

}  // namespace

std::span<const SystemEntry> systems() {
  return kSystems;
}

const SystemEntry& find_system(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SystemEntry& entry : kSystems) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown system \"{}\"; {} (holdfast list shows all)", name, did_you_mean(name, names)));
}

}  // namespace holdfast
