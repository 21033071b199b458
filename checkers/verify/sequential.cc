#include "checkers/verify/sequential.h"

#include <algorithm>
#include <stdexcept>

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::kNone;
using objects::kNothing;

[[noreturn]] void senseless(const Operation& operation, std::string_view object) {
  throw std::invalid_argument("a " + std::string(object) + " has no operation \"" +
                              std::string(to_string(operation.f)) + '"');
}

std::int64_t or_one(std::int64_t number) {
  return number == kNothing ? 1 : number;
}

}  // namespace

std::uint32_t owner_of(const Promise& promise, const Operation& operation) {
  return promise.identity == Identity::hold ? operation.hold : operation.process;
}

bool Register::apply(const Promise& /*promise*/, const Operation& operation) {
  switch (operation.f) {
    case Call::read:
      return operation.unknown() || value == operation.result;
    case Call::write:
      value = operation.argument;
      return true;
    case Call::cas:
      if (operation.refused()) return value != operation.argument;
      if (value != operation.argument) return false;
      value = operation.result;
      return true;
    default:
      senseless(operation, "register");
  }
}

bool Counter::apply(const Promise& /*promise*/, const Operation& operation) {
  switch (operation.f) {
    case Call::read:
      return operation.unknown() || count == operation.result;
    case Call::increment:
      count += or_one(operation.argument);
      return true;
    default:
      senseless(operation, "counter");
  }
}

bool Set::apply(const Promise& promise, const Operation& operation) {
  switch (operation.f) {
    case Call::read: {
      if (operation.unknown()) return true;
      const std::vector<std::int64_t>& seen = promise.sets.at(static_cast<std::size_t>(operation.result));
      return std::set<std::int64_t>(seen.begin(), seen.end()) == elements;
    }
    case Call::add:
      elements.insert(operation.argument);
      return true;
    case Call::remove:
      if (operation.refused()) return !elements.contains(operation.argument);
      return elements.erase(operation.argument) == 1;
    case Call::contains:
      return operation.unknown() || elements.contains(operation.argument) == (operation.result != 0);
    default:
      senseless(operation, "set");
  }
}

bool Queue::apply(const Promise& /*promise*/, const Operation& operation) {
  switch (operation.f) {
    case Call::insert:
      items.push_back(operation.argument);
      return true;
    case Call::extract:
      if (items.empty()) return operation.unknown() || operation.result == kNothing;
      if (!operation.unknown() && items.front() != operation.result) return false;
      items.pop_front();
      return true;
    default:
      senseless(operation, "queue");
  }
}

bool Stack::apply(const Promise& /*promise*/, const Operation& operation) {
  switch (operation.f) {
    case Call::insert:
      items.push_back(operation.argument);
      return true;
    case Call::extract:
      if (items.empty()) return operation.unknown() || operation.result == kNothing;
      if (!operation.unknown() && items.back() != operation.result) return false;
      items.pop_back();
      return true;
    default:
      senseless(operation, "stack");
  }
}

bool PriorityQueue::apply(const Promise& /*promise*/, const Operation& operation) {
  switch (operation.f) {
    case Call::insert:
      items.insert(operation.argument);
      return true;
    case Call::extract:
      if (items.empty()) return operation.unknown() || operation.result == kNothing;
      if (!operation.unknown() && *items.begin() != operation.result) return false;
      items.erase(items.begin());
      return true;
    default:
      senseless(operation, "priority queue");
  }
}

bool MultiRegister::apply(const Promise& promise, const Operation& operation) {
  if (operation.f != Call::transact) senseless(operation, "multi-register");
  const std::int64_t number = operation.ok() ? operation.result : operation.argument;
  const std::vector<std::int64_t>& steps = promise.sets.at(static_cast<std::size_t>(number));
  for (std::size_t i = 0; i + 2 < steps.size(); i += 3) {
    const auto [place, fresh] = values.try_emplace(steps[i + 1], promise.initial);
    if (steps[i] == objects::kWrite) {
      place->second = steps[i + 2];
    } else if (operation.ok() && place->second != steps[i + 2]) {
      return false;
    }
  }
  return true;
}

bool Text::apply(const Promise& promise, const Operation& operation) {
  const auto text_of = [&promise](std::int64_t number) -> const std::string& {
    return promise.texts.at(static_cast<std::size_t>(number));
  };
  switch (operation.f) {
    case Call::read:
      return operation.unknown() || text == text_of(operation.result);
    case Call::write:
      text = text_of(operation.argument);
      return true;
    case Call::append:
      text += text_of(operation.argument);
      return true;
    default:
      senseless(operation, "map of texts");
  }
}

bool Mutex::apply(const Promise& promise, const Operation& operation) {
  const std::uint32_t owner = owner_of(promise, operation);
  switch (operation.f) {
    case Call::acquire: {
      if (operation.refused()) return count > 0;
      if (count > 0 && (holder != owner || count >= promise.reentrancy)) return false;
      const bool fenced = promise.kind == Kind::fenced_mutex;
      if (fenced && count > 0) {  // the holder enters again: under the token it has
        if (operation.ok() && operation.result != token) return false;
      } else if (fenced && operation.unknown()) {
        ++token;
      } else if (fenced) {
        const bool allowed =
            promise.fence == objects::FenceRule::by_one ? operation.result == token + 1 : operation.result > token;
        if (!allowed) return false;
        token = operation.result;
      }
      holder = owner;
      ++count;
      return true;
    }
    case Call::release:
      if (operation.refused()) return count == 0 || holder != owner;
      if (count == 0 || holder != owner) return false;
      if (--count == 0) holder = kNone;
      return true;
    default:
      senseless(operation, "mutex");
  }
}

bool AnonymousMutex::apply(const Promise& promise, const Operation& operation) {
  switch (operation.f) {
    case Call::acquire:
      if (operation.refused()) return held == promise.permits;
      return ++held <= promise.permits;
    case Call::release:
      if (operation.refused()) return held == 0;
      return held-- > 0;
    default:
      senseless(operation, "anonymous mutex");
  }
}

bool Shared::apply(const Promise& promise, const Operation& operation) {
  const std::uint32_t owner = owner_of(promise, operation);
  if (operation.f == Call::release) {
    const auto found = held.find(owner);
    if (operation.refused()) return found == held.end();
    if (found == held.end()) return false;
    if (promise.kind == Kind::semaphore) {
      found->second -= or_one(operation.argument);
      if (found->second > 0) return true;
      if (found->second < 0) return false;
    }
    held.erase(found);
    return true;
  }
  if (operation.f != Call::acquire) senseless(operation, to_string(promise.kind));

  const auto fits = [&] {
    switch (promise.kind) {
      case Kind::rw_lock:
        return operation.argument == objects::kWrite
                   ? held.empty()
                   : std::ranges::none_of(held, [](const auto& each) { return each.second == objects::kWrite; });
      case Kind::semaphore: {
        std::int64_t used = or_one(operation.argument);
        for (const auto& each : held) used += each.second;
        return used <= static_cast<std::int64_t>(promise.permits);
      }
      default: {  // multi-lock
        const std::vector<std::int64_t>& wanted = promise.sets.at(static_cast<std::size_t>(operation.argument));
        return std::ranges::none_of(held, [&](const auto& each) {
          const std::vector<std::int64_t>& taken = promise.sets.at(static_cast<std::size_t>(each.second));
          return std::ranges::any_of(
              wanted, [&taken](std::int64_t lock) { return std::ranges::find(taken, lock) != taken.end(); });
        });
      }
    }
  }();
  if (operation.refused()) return !fits;
  if (!fits) return false;
  if (promise.kind == Kind::semaphore) {
    held[owner] += or_one(operation.argument);
    return true;
  }
  return held.emplace(owner, operation.argument).second;
}

bool FairMutex::apply(const Promise& promise, const Operation& operation) {
  const std::uint32_t owner = owner_of(promise, operation);
  switch (operation.f) {
    case Call::ticket:
      waiting.push_back(owner);
      return true;
    case Call::acquire:
      if (operation.refused()) return std::erase(waiting, owner) == 1;
      if (holder != kNone || waiting.empty() || waiting.front() != owner) return false;
      waiting.pop_front();
      holder = owner;
      return true;
    case Call::release:
      if (operation.refused()) return holder != owner;
      if (holder != owner) return false;
      holder = kNone;
      return true;
    default:
      senseless(operation, "fair lock");
  }
}

Machine initial_machine(const Promise& promise) {
  switch (promise.kind) {
    case Kind::register_:
      return Register{.value = promise.initial};
    case Kind::counter:
      return Counter{.count = promise.initial == kNothing ? 0 : promise.initial};
    case Kind::set:
      return Set{};
    case Kind::queue:
      return Queue{};
    case Kind::stack:
      return Stack{};
    case Kind::priority_queue:
      return PriorityQueue{};
    case Kind::multi_register:
      return MultiRegister{};
    case Kind::append_map:
      return Text{};
    case Kind::mutex:
    case Kind::fenced_mutex:
      return Mutex{};
    case Kind::anonymous_mutex:
      return AnonymousMutex{};
    case Kind::rw_lock:
    case Kind::semaphore:
    case Kind::multi_lock:
      return Shared{};
    case Kind::fair_mutex:
      return FairMutex{};
    case Kind::lease_mutex:
      break;
  }
  throw std::invalid_argument("a lease is a matter of time: no sequential machine decides it");
}

bool apply(Machine& machine, const Promise& promise, const Operation& operation) {
  return std::visit([&](auto& object) { return object.apply(promise, operation); }, machine);
}

}  // namespace holdfast::verify
