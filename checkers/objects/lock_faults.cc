#include "checkers/objects/lock_faults.h"

#include "checkers/objects/lock_cores.h"
#include "checkers/objects/obligations.h"
#include "checkers/objects/owner_table.h"

namespace holdfast::objects {

Decision fault_decision(HoldFault fault, Operations operations, std::span<const std::uint32_t> members) {
  Instant from = kNever;
  Instant to = std::numeric_limits<Instant>::min();
  for (const std::uint32_t number : members) {
    from = std::min(from, operations[number].call);
    to = std::max(to, operations[number].unknown() ? operations[number].call : operations[number].ret);
  }
  switch (fault) {
    case HoldFault::never_acquired:
      return lock_violation("used-without-acquire", "no acquire of this hold had been called by then", from, to);
    case HoldFault::released_twice:
      return lock_violation("used-after-release",
                            "the hold was given back, and the same hold was used again with success", from, to);
    case HoldFault::regained:
      return lock_violation("lost-then-regained",
                            "the owner was told that it does not hold the lock, and it cannot have come by it again",
                            from, to);
    case HoldFault::outlived:
      return lock_violation("used-after-expiry", "the lease must have ended before that", from, to);
    default:
      return lock_violation("lost-before-lease-end",
                            "the owner was told that it does not hold the lock, but it cannot have been released and "
                            "its lease cannot have ended",
                            from, to);
  }
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> repeated_acquire(const Promise& promise, Operations operations) {
  OwnerTable<std::uint32_t> acquired(promise, operations, kNone);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (operation.refused()) continue;
    if (operation.f == Call::acquire) {
      std::uint32_t& first = acquired.of(operation);
      const bool fresh_ids = promise.identity == Identity::hold;
      if (first != kNone && (fresh_ids || operation.ok())) return std::pair(first, i);
      if (fresh_ids || operation.ok()) first = i;
    } else if (operation.f == Call::release && promise.identity != Identity::hold) {
      acquired.of(operation) = kNone;
    }
  }
  return std::nullopt;
}

void check_lock_operations(const Promise& promise, Operations operations) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    const bool sensible = operation.f == Call::acquire || operation.f == Call::release ||
                          (operation.f == Call::renew && promise.kind == Kind::lease_mutex) ||
                          (operation.f == Call::ticket && promise.kind == Kind::fair_mutex && !operation.refused());
    if (!sensible) refuse_operation(promise, i, operation);
  }
}

}  // namespace holdfast::objects
