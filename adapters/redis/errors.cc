#include "adapters/redis/errors.h"

#include <algorithm>
#include <array>

namespace holdfast {
namespace {

// Redis answers these before it runs the command. They hold for a script as well: Redis does nothing else while one
// runs, so a condition that refuses its second write has refused its first. (WRONGTYPE is missing for that reason: it
// can meet the second key of a script after the first was written.)
constexpr std::array<std::string_view, 13> kDefinite = {
    "LOADING",     // the server reads its data from disk
    "READONLY",    // a replica
    "OOM",         // over maxmemory
    "MISCONF",     // cannot persist, and is told to refuse writes then
    "NOREPLICAS",  // too few replicas for min-replicas-to-write
    "NOAUTH",      // not authenticated
    "NOPERM",      // not allowed by the ACL
    "MASTERDOWN",  // a replica that lost its primary
    "CLUSTERDOWN", "MOVED", "ASK",
    "BUSY",      // another client's script runs
    "NOSCRIPT",  // EVALSHA of an unknown script
};

}  // namespace

bool is_definite(std::string_view text) {
  const std::string_view prefix = text.substr(0, text.find(' '));
  return std::find(kDefinite.begin(), kDefinite.end(), prefix) != kDefinite.end();
}

}  // namespace holdfast
