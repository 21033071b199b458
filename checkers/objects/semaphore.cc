#include "checkers/objects/semaphore.h"

#include "checkers/objects/counted_lock.h"
#include "checkers/objects/hold_jobs.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/lock_segments.h"
#include "checkers/objects/obligations.h"
#include "checkers/objects/owner_table.h"
#include "checkers/objects/semaphore_sessions.h"

namespace holdfast::objects {

namespace {

std::int64_t permits_of(const Operation& operation) {
  return operation.argument == kNothing ? 1 : operation.argument;
}

// Does each release give back all that its owner has? Or, with hold ids, are the parts all known and one after another?
bool gives_back_simply(const Promise& promise, Operations operations) {
  struct Owner {
    std::int64_t taken = 0;
    Instant returned = std::numeric_limits<Instant>::min();
    bool early = false;  // a release was called first
    bool parts = false;  // some release was not about everything
    bool loose = false;  // something is not known, refused or concurrent
  };
  OwnerTable<Owner> owners(promise, operations, {});
  for (const Operation& operation : operations) {
    Owner& owner = owners.of(operation);
    owner.loose = owner.loose || !operation.ok() || owner.returned >= operation.call;
    owner.returned = operation.ret;
    if (operation.f == Call::acquire) {
      owner.taken = permits_of(operation);
      if (owner.early) return false;
    } else if (owner.taken == 0) {
      owner.early = true;
    } else if (!operation.refused()) {
      owner.parts = owner.parts || permits_of(operation) != owner.taken;
    }
    if (owner.parts && (owner.loose || promise.identity != Identity::hold)) return false;
  }
  return true;
}

}  // namespace

Decision decide_semaphore(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (permits_of(operations[i]) < 1) refuse_operation(promise, i, operations[i]);
  }
  const bool by_hold = promise.identity == Identity::hold;
  const bool simple = gives_back_simply(promise, operations) && !repeated_acquire(promise, operations);
  if (promise.identity == Identity::session || (promise.identity == Identity::crash && !simple)) {
    return decide_semaphore_sessions(promise, operations, limits);
  }
  const auto covers = [by_hold](const Promise& of, Operations some) {
    return is_plain(of, some) && (!by_hold || (gives_back_simply(of, some) && !repeated_acquire(of, some)));
  };
  const auto fast = [](const Promise& of, Operations some, const Limits& within) {
    const CountedLock lock{
        .capacity = of.permits,
        .weight = [](const CountedLock&, const Operation& acquire) { return permits_of(acquire); },
        .covers = gives_back_simply,
        .overfull = "these holds certainly overlap, and together they have more permits than there are",
        .no_room =
            "one of these must have had its permits at some instant, and at each such instant the others "
            "certainly left too few"};
    return decide_counted(lock, of, some, within);
  };
  return decide_by_segments(promise, operations, limits, covers, fast);
}

}  // namespace holdfast::objects
