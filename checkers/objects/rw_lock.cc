#include "checkers/objects/rw_lock.h"

#include "checkers/objects/counted_lock.h"
#include "checkers/objects/lock_faults.h"
#include "checkers/objects/lock_segments.h"

namespace holdfast::objects {

Decision decide_rw_lock(const Promise& promise, Operations operations, const Limits& limits) {
  check_lock_operations(promise, operations);
  const auto covers = [](const Promise& of, Operations some) {
    return is_plain(of, some) && (of.identity != Identity::hold || !repeated_acquire(of, some));
  };
  const auto fast = [](const Promise& of, Operations some, const Limits& within) {
    const CountedLock lock{
        .capacity = static_cast<std::int64_t>(some.size()) + 1,
        .weight = [](const CountedLock& of_lock,
                     const Operation& acquire) { return acquire.argument == kWrite ? of_lock.capacity : 1; },
        .overfull = "these holds certainly overlap, and one of them is a writer's",
        .no_room =
            "one of these must have held the lock at some instant, and the others, who cannot share it with "
            "that one, certainly held it all the time"};
    return decide_counted(lock, of, some, within);
  };
  return decide_by_segments(promise, operations, limits, covers, fast);
}

}  // namespace holdfast::objects
