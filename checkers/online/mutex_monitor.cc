#include "checkers/online/mutex_monitor.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::online {

using objects::Call;
using objects::Identity;
using objects::kNever;

MutexMonitor::MutexMonitor(const objects::Promise& promise) : identity_(promise.identity) {
  if (promise.kind != objects::Kind::mutex || promise.reentrancy != 1 || identity_ == Identity::reuse) {
    throw std::invalid_argument(
        "only a mutex that is not reentrant, and whose late requests cannot be mistaken for others, can be watched");
  }
}

std::uint64_t MutexMonitor::call(const objects::Operation& operation) {
  if (operation.f != Call::acquire && operation.f != Call::release) {
    throw std::invalid_argument("a mutex has no operation \"" + std::string(to_string(operation.f)) + '"');
  }
  const std::uint32_t name = identity_ == Identity::hold ? operation.hold : operation.process;
  Owner& owner = owners_[name];
  const Request request{
      .number = calls_, .owner = name, .f = operation.f, .call = operation.call, .before = owner.since};
  if (!requests_.emplace(operation.process, request).second) {
    throw std::invalid_argument("process " + std::to_string(operation.process) + " asks before it has its answer");
  }
  Since& since = owner.since;
  if (operation.f == Call::release) {
    if (owner.holds && since.released == kNever) {
      since.released = operation.call;
      set_open(owner, false);
    }
  } else if (!owner.holds) {
    since.acquired = true;
  } else if (since.released != kNever) {
    since.acquired_again = true;
  }
  return calls_++;
}

std::optional<LockViolation> MutexMonitor::returned(std::uint32_t process, Returned outcome, Instant time) {
  const auto place = requests_.find(process);
  if (place == requests_.end()) {
    throw std::invalid_argument("process " + std::to_string(process) + " has an answer to nothing");
  }
  const Request request = place->second;
  requests_.erase(place);
  std::optional<LockViolation> found;
  if (violated_) return found;
  switch (outcome) {
    case Returned::ok:
      found = request.f == Call::acquire ? acquired(request, time) : released(request, time);
      break;
    case Returned::refused:
      found = request.f == Call::acquire ? failed(request, time) : refused(request, time);
      break;
    case Returned::fail:
      found = failed(request, time);
      break;
    case Returned::unknown:
      // A process that retires is heard of no more; whether the lock is held is known without it.
      if (identity_ == Identity::crash) owners_.erase(request.owner);
      return found;
  }
  forget_if_idle(request.owner);
  return found;
}

std::optional<LockViolation> MutexMonitor::acquired(const Request& request, Instant time) {
  Owner& owner = owners_[request.owner];
  if (owner.holds && request.before.released == kNever) {
    return violation("acquired-twice",
                     "{0} and {1} acquired the lock, and their owner asked for no release between them",
                     {owner.acquire, request.number}, time);
  }
  if (last_.acquire != kNobody && last_.open) {
    return violation("overlapping-holds",
                     "{0} has held the lock since its answer, no release was asked for, and {1} was granted",
                     {last_.acquire, request.number}, time);
  }
  if (last_.acquire != kNobody) {
    const auto before = owners_.find(last_.owner);
    if (before != owners_.end() && before->second.acquire == last_.acquire) {
      before->second.next_acquire = request.number;
      before->second.next_answer = time;
    }
  }
  owner = Owner{.holds = true, .since = {}, .acquire = request.number, .answer = time};
  last_ = {.acquire = request.number, .owner = request.owner, .answer = time, .open = true};
  // Holds that are over are dropped from the list when they are the most of it.
  if (unmarked_.size() > 2 * owners_.size() + 64) {
    const auto is_over = [this](const Hold& hold) {
      const auto place = owners_.find(hold.owner);
      return place == owners_.end() || !place->second.holds || place->second.acquire != hold.acquire;
    };
    unmarked_.erase(unmarked_.begin(), unmarked_.begin() + static_cast<std::ptrdiff_t>(first_unmarked_));
    first_unmarked_ = 0;
    std::erase_if(unmarked_, is_over);
  }
  unmarked_.push_back(last_);
  return std::nullopt;
}

std::optional<LockViolation> MutexMonitor::released(const Request& request, Instant time) {
  Owner& owner = owners_[request.owner];
  const Since& before = request.before;
  if (!owner.holds || before.acquired_again) return released_unseen(request, owner, time);
  // The hold really lasted until this release was asked for.
  if (before.released != kNever) {
    if (auto found = lasted(request, owner, request.call, time)) return found;
  }
  owner.holds = false;
  owner.since = {};
  return std::nullopt;
}

// It gives back a hold that nobody saw granted: the owner must have had it at some instant of this very request.
std::optional<LockViolation> MutexMonitor::released_unseen(const Request& request, Owner& owner, Instant time) {
  if (!owner.holds && !request.before.acquired) {
    return violation("release-without-acquire", "{0} released the lock, and its owner cannot have acquired it before",
                     {request.number}, time);
  }
  if (last_.acquire != kNobody && last_.open && last_.answer < request.call) {
    return violation("hold-within-hold",
                     "{0} has held the lock since its answer, no release was asked for, and {1} released it meanwhile",
                     {last_.acquire, request.number}, time);
  }
  mark(request, time);
  owner.holds = false;
  owner.since = {};
  return std::nullopt;
}

std::optional<LockViolation> MutexMonitor::refused(const Request& request, Instant time) {
  Owner& owner = owners_[request.owner];
  if (owner.holds && request.before.released == kNever) {
    return violation("refused-while-held", "{0} acquired the lock, and {1} was told that its owner did not hold it",
                     {owner.acquire, request.number}, time);
  }
  // A release before it has taken effect; an acquire that was not seen to succeed can do so later only on its own.
  const bool may_come = identity_ == Identity::hold && request.before.acquired;
  owner.holds = false;
  owner.since = {};
  owner.since.acquired = may_come;
  return std::nullopt;
}

std::optional<LockViolation> MutexMonitor::failed(const Request& request, Instant time) {
  Owner& owner = owners_[request.owner];
  const bool goes_on = request.f == Call::release && owner.holds && request.before.released == kNever;
  owner.since = request.before;
  if (!goes_on) return std::nullopt;
  if (auto found = lasted(request, owner, kNever, time)) return found;
  set_open(owner, true);
  return std::nullopt;
}

std::optional<LockViolation> MutexMonitor::lasted(const Request& request, const Owner& owner, Instant end,
                                                  Instant time) {
  const std::string until = end == kNever ? ", for {2}, which was to release it, did not happen"
                                          : ", for {2}, which released it, was asked for only later";
  if (owner.next_answer < end) {
    return violation("overlapping-holds", "{0} still held the lock when {1} was granted" + until,
                     {owner.acquire, owner.next_acquire, request.number}, time);
  }
  if (owner.point_end < end) {
    return violation("hold-within-hold", "{0} held the lock all the time that {1} took to release it" + until,
                     {owner.acquire, owner.point_release, request.number}, time);
  }
  return std::nullopt;
}

// A hold at one instant of [request.call, time]: it lies within every hold that began before and lasts beyond.
void MutexMonitor::mark(const Request& request, Instant time) {
  for (; first_unmarked_ < unmarked_.size(); ++first_unmarked_) {
    const Hold& hold = unmarked_[first_unmarked_];
    const auto place = owners_.find(hold.owner);
    const bool current = place != owners_.end() && place->second.holds && place->second.acquire == hold.acquire;
    if (!current) continue;
    if (hold.answer >= request.call) return;
    if (hold.owner == request.owner) continue;
    place->second.point_release = request.number;
    place->second.point_end = time;
  }
  unmarked_.clear();
  first_unmarked_ = 0;
}

void MutexMonitor::set_open(const Owner& owner, bool open) {
  if (last_.acquire == owner.acquire) last_.open = open;
}

void MutexMonitor::forget_if_idle(std::uint32_t name) {
  const auto place = owners_.find(name);
  if (place != owners_.end() && !place->second.holds && place->second.since == Since{}) owners_.erase(place);
}

LockViolation MutexMonitor::violation(std::string rule, std::string because, std::vector<std::uint64_t> operations,
                                      Instant time) {
  violated_ = true;
  return {.rule = std::move(rule), .because = std::move(because), .operations = std::move(operations), .time = time};
}

}  // namespace holdfast::online
