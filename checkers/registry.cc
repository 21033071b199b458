#include "checkers/registry.h"

#include <algorithm>
#include <array>

#include "checkers/clients.h"
#include "checkers/deadlock.h"
#include "checkers/ownership.h"
#include "checkers/resource.h"
#include "checkers/service.h"
#include "checkers/stats.h"
#include "checkers/tokens.h"
#include "checkers/wakeup.h"

namespace holdfast {

namespace {

template <typename Kind>
std::unique_ptr<Checker> make(const LockCheckOptions& options) {
  return std::make_unique<Kind>(options);
}

constexpr std::array kTable = {
    CheckerEntry{.name = "service",
                 .title = "mutual exclusion at the service",
                 .summary = "could a correct lock service have given these answers?",
                 .make = make<ServiceChecker>},
    CheckerEntry{.name = "clients",
                 .title = "mutual exclusion at the clients",
                 .summary = "no two clients believe to hold the same lock at the same time",
                 .make = make<ClientsChecker>},
    CheckerEntry{.name = "resource",
                 .title = "effect at the guarded resource",
                 .summary = "no lost update, and no write taken from a stale holder",
                 .make = make<ResourceChecker>},
    CheckerEntry{.name = "ownership",
                 .title = "ownership",
                 .summary = "nobody frees a lock that somebody else holds",
                 .make = make<OwnershipChecker>},
    CheckerEntry{.name = "deadlock-freedom",
                 .title = "deadlock freedom",
                 .summary = "the lock of a dead holder comes free again",
                 .make = make<DeadlockChecker>},
    CheckerEntry{.name = "wake-up",
                 .title = "wake-up after release",
                 .summary = "who waits for a lock is not left asleep when it comes free",
                 .make = make<WakeUpChecker>},
    CheckerEntry{.name = "token-order",
                 .title = "fencing tokens increase",
                 .summary = "later grants carry greater tokens",
                 .make = make<TokensChecker>},
    CheckerEntry{.name = "stats",
                 .title = "statistics",
                 .summary = "counts and latencies; promises nothing",
                 .make = make<StatsChecker>},
};

}  // namespace

std::span<const CheckerEntry> lock_checker_table() {
  return kTable;
}

std::string_view checker_title(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &CheckerEntry::name);
  return found == kTable.end() ? name : found->title;
}

std::vector<std::unique_ptr<Checker>> lock_checkers(const LockCheckOptions& options) {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.reserve(kTable.size());
  for (const CheckerEntry& entry : kTable) checkers.push_back(entry.make(options));
  return checkers;
}

}  // namespace holdfast
