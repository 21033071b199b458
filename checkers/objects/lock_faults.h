// What is wrong with a hold all by itself, in words.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "checkers/objects/decision.h"
#include "checkers/objects/hold_jobs.h"

namespace holdfast::objects {

// A violation whose core is still to be found.
Decision fault_decision(HoldFault fault, Operations operations, std::span<const std::uint32_t> members);

// The first two acquires of one owner that are not refused, with no release answered ok between them; where there are
// hold ids, even with one.
std::optional<std::pair<std::uint32_t, std::uint32_t>> repeated_acquire(const Promise& promise, Operations operations);

// Throws std::invalid_argument when an operation is not one of such a lock.
void check_lock_operations(const Promise& promise, Operations operations);

}  // namespace holdfast::objects
