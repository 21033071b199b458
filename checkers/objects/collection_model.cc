#include <algorithm>
#include <stdexcept>

#include "checkers/objects/models.h"

namespace holdfast::objects {

namespace {

using State = CollectionModel::State;
using Next = std::optional<State>;

[[noreturn]] void senseless(const Promise& promise, const Ask& ask) {
  throw std::invalid_argument("a " + std::string(to_string(promise.kind)) + " has no operation \"" +
                              std::string(to_string(ask.f)) + '"');
}

// A lock whose state is who holds it; a fair one also has a queue.
bool is_held_only(Kind kind) {
  return kind == Kind::rw_lock || kind == Kind::semaphore || kind == Kind::multi_lock;
}

Next when(bool allowed, const State& state) {
  return allowed ? Next(state) : std::nullopt;
}

// A queue keeps its items in order of arrival, a stack too, a priority queue sorted with the least first.
Next step_items(const Promise& promise, const State& state, const Ask& ask, const Told* known) {
  if (ask.f == Call::insert) {
    State next = state;
    const bool sorted = promise.kind == Kind::priority_queue;
    next.insert(sorted ? std::ranges::upper_bound(next, ask.argument) : next.end(), ask.argument);
    return next;
  }
  if (ask.f != Call::extract) senseless(promise, ask);
  if (state.empty()) return when(known == nullptr || ask.result == kNothing, state);
  const auto item = promise.kind == Kind::stack ? state.end() - 1 : state.begin();
  if (known != nullptr && *item != ask.result) return std::nullopt;
  State next = state;
  next.erase(next.begin() + (item - state.begin()));
  return next;
}

Next step_set(const Promise& promise, const std::vector<std::vector<std::int64_t>>& sets, const State& state,
              const Ask& ask, const Told* known) {
  const auto place = std::ranges::lower_bound(state, ask.argument);
  const bool there = place != state.end() && *place == ask.argument;
  State next = state;
  switch (ask.f) {
    case Call::read:
      return when(known == nullptr || sets.at(static_cast<std::size_t>(ask.result)) == state, state);
    case Call::contains:
      return when(known == nullptr || there == (ask.result != 0), state);
    case Call::add:
      if (!there) next.insert(next.begin() + (place - state.begin()), ask.argument);
      return next;
    case Call::remove:
      if (known != nullptr && *known == Told::refused) return when(!there, state);
      if (!there) return std::nullopt;
      next.erase(next.begin() + (place - state.begin()));
      return next;
    default:
      senseless(promise, ask);
  }
}

// Locks that several may hold: pairs of owner and permits, mode or set, by owner.
bool fits(const Promise& promise, const State& held, std::int64_t wanted) {
  std::int64_t permits = wanted == kNothing ? 1 : wanted;
  for (std::size_t i = 1; i < held.size(); i += 2) {
    if (promise.kind == Kind::rw_lock && (wanted == kWrite || held[i] == kWrite)) return false;
    if (promise.kind == Kind::semaphore) permits += held[i];
    if (promise.kind != Kind::multi_lock) continue;
    const std::vector<std::int64_t>& mine = promise.sets.at(static_cast<std::size_t>(wanted));
    const std::vector<std::int64_t>& other = promise.sets.at(static_cast<std::size_t>(held[i]));
    if (std::ranges::find_first_of(mine, other) != mine.end()) return false;
  }
  return promise.kind != Kind::semaphore || permits <= static_cast<std::int64_t>(promise.permits);
}

Next step_shared(const Promise& promise, const State& held, const Ask& ask, const Told* known) {
  const bool refused = known != nullptr && *known == Told::refused;
  std::size_t at = 0;
  while (at < held.size() && held[at] < static_cast<std::int64_t>(ask.owner)) at += 2;
  const bool holds = at < held.size() && held[at] == static_cast<std::int64_t>(ask.owner);
  const auto place = static_cast<std::ptrdiff_t>(at);
  State next = held;
  if (ask.f == Call::release) {
    if (refused) return when(!holds, held);
    if (!holds) return std::nullopt;
    if (promise.kind == Kind::semaphore) {
      next[at + 1] -= ask.argument == kNothing ? 1 : ask.argument;
      if (next[at + 1] < 0) return std::nullopt;
      if (next[at + 1] > 0) return next;
    }
    next.erase(next.begin() + place, next.begin() + place + 2);
    return next;
  }
  if (ask.f != Call::acquire) senseless(promise, ask);
  const bool possible = fits(promise, held, ask.argument);
  if (refused) return when(!possible, held);
  if (!possible) return std::nullopt;
  const std::int64_t amount = promise.kind == Kind::semaphore && ask.argument == kNothing ? 1 : ask.argument;
  if (!holds) {
    next.insert(next.begin() + place, {static_cast<std::int64_t>(ask.owner), amount});
    return next;
  }
  if (promise.kind != Kind::semaphore) return std::nullopt;
  next[at + 1] += amount;
  return next;
}

// A fair lock: the holder or kNothing, then those who wait in order.
Next step_fair(const Promise& promise, const State& state, const Ask& ask, const Told* known) {
  const bool refused = known != nullptr && *known == Told::refused;
  const auto owner = static_cast<std::int64_t>(ask.owner);
  const bool mine = state.front() == owner;
  State next = state;
  switch (ask.f) {
    case Call::ticket:
      next.push_back(owner);
      return next;
    case Call::acquire:
      if (refused) {
        const auto [first, last] = std::ranges::remove(next.begin() + 1, next.end(), owner);
        const bool once = last - first == 1;
        next.erase(first, last);
        return once ? Next(next) : std::nullopt;
      }
      if (state.front() != kNothing || state.size() < 2 || state[1] != owner) return std::nullopt;
      next.erase(next.begin());
      return next;
    case Call::release:
      if (refused) return when(!mine, state);
      if (!mine) return std::nullopt;
      next.front() = kNothing;
      return next;
    default:
      senseless(promise, ask);
  }
}

// Several registers: pairs of register and value, by register; one that is not there holds the initial value.
const std::vector<std::int64_t>& steps_of(const Promise& promise, const Ask& ask, const Told* known) {
  if (ask.f != Call::transact) senseless(promise, ask);
  const bool ok = known != nullptr && *known == Told::ok;
  return promise.sets.at(static_cast<std::size_t>(ok ? ask.result : ask.argument));
}

Next step_registers(const Promise& promise, const State& state, const Ask& ask, const Told* known) {
  const std::vector<std::int64_t>& steps = steps_of(promise, ask, known);
  const bool ok = known != nullptr && *known == Told::ok;
  State next = state;
  for (std::size_t i = 0; i + 2 < steps.size(); i += 3) {
    std::size_t at = 0;
    while (at < next.size() && next[at] < steps[i + 1]) at += 2;
    const bool there = at < next.size() && next[at] == steps[i + 1];
    if (steps[i] != kWrite) {
      if (ok && (there ? next[at + 1] : promise.initial) != steps[i + 2]) return std::nullopt;
    } else if (there) {
      next[at + 1] = steps[i + 2];
    } else {
      next.insert(next.begin() + static_cast<std::ptrdiff_t>(at), {steps[i + 1], steps[i + 2]});
    }
  }
  return next;
}

bool is_collection(Kind kind) {
  return kind == Kind::queue || kind == Kind::stack || kind == Kind::priority_queue;
}

}  // namespace

CollectionModel::CollectionModel(const Promise& object, Operations operations) : ObjectModel{&object} {
  if (object.kind == Kind::set) {
    seen_sets_ = object.sets;
    for (std::vector<std::int64_t>& each : seen_sets_) {
      std::ranges::sort(each);
      each.erase(std::ranges::unique(each).begin(), each.end());
    }
  }
  const bool lock = is_held_only(object.kind);
  for (const Operation& each : operations) {
    if (lock && each.refused() && each.f == Call::acquire) anything_is_noticed_ = true;
    if (lock && each.ok()) {
      acted_.push_back(owner_of(object, each));
      if (each.f == Call::release) released_.push_back(acted_.back());
    }
    if (each.f == Call::extract && each.unknown()) anything_is_noticed_ = true;
    if (each.f == Call::extract) mentioned_.push_back(each.result);
    if (each.f == Call::remove || each.f == Call::contains) mentioned_.push_back(each.argument);
    if (object.kind != Kind::set || each.f != Call::read || each.unknown()) continue;
    const std::vector<std::int64_t>& seen = seen_sets_.at(static_cast<std::size_t>(each.result));
    mentioned_.insert(mentioned_.end(), seen.begin(), seen.end());
  }
  std::ranges::sort(mentioned_);
  std::ranges::sort(released_);
  std::ranges::sort(acted_);
}

State CollectionModel::init() const {
  return promise->kind == Kind::fair_mutex ? State{kNothing} : State{};
}

Next CollectionModel::step(const State& state, const Ask& ask, const Told* known) const {
  if (is_collection(promise->kind)) return step_items(*promise, state, ask, known);
  if (promise->kind == Kind::set) return step_set(*promise, seen_sets_, state, ask, known);
  if (promise->kind == Kind::fair_mutex) return step_fair(*promise, state, ask, known);
  if (promise->kind == Kind::multi_register) return step_registers(*promise, state, ask, known);
  return step_shared(*promise, state, ask, known);
}

std::size_t CollectionModel::hash(const State& state) {
  std::uint64_t hash = state.size();
  for (const std::int64_t each : state) {
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32U;
  }
  return hash;
}

bool CollectionModel::read_only(const Ask& ask, const Told* known) const {
  if (ask.f == Call::read || ask.f == Call::contains) return true;
  if (ask.f == Call::transact) {
    const std::vector<std::int64_t>& steps = steps_of(*promise, ask, known);
    for (std::size_t i = 0; i + 2 < steps.size(); i += 3) {
      if (steps[i] == kWrite) return false;
    }
    return true;
  }
  if (known == nullptr) return false;
  if (ask.f == Call::extract) return ask.result == kNothing;
  // Who leaves the queue of a fair lock changes it.
  return *known == Told::refused && !(promise->kind == Kind::fair_mutex && ask.f == Call::acquire);
}

// An item that nobody takes out or looks for can as well not be there: it hides nothing that anybody gets, and without
// it everything is at least as empty.
bool CollectionModel::droppable(const Ask& ask) const {
  // A hold that nobody must end, and that nobody was refused for, is only in the way.
  if (is_held_only(promise->kind)) {
    return !anything_is_noticed_ && !std::ranges::binary_search(ask.f == Call::acquire ? released_ : acted_, ask.owner);
  }
  if (ask.f != Call::insert && ask.f != Call::add) return false;
  return !anything_is_noticed_ && !std::ranges::binary_search(mentioned_, ask.argument);
}

std::string CollectionModel::explain(const State& state, const Ask& ask, const Told* known) const {
  std::string text = describe(ask, known) + " is not possible: ";
  if (promise->kind == Kind::multi_register) return text + "the registers hold other values";
  if (state.empty())
    return text + (is_collection(promise->kind) || promise->kind == Kind::set ? "it is empty" : "nobody holds it");
  if (!is_collection(promise->kind) && promise->kind != Kind::set) return text + "of who holds it and who waits";
  text += "it holds";
  for (std::size_t i = 0; i < std::min<std::size_t>(state.size(), 8); ++i) text += ' ' + std::to_string(state[i]);
  return text + (state.size() > 8 ? " …" : "");
}

}  // namespace holdfast::objects
