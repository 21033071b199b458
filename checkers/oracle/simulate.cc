#include <algorithm>
#include <set>

#include "checkers/oracle/oracle.h"
#include "checkers/verify/sequential.h"

namespace holdfast::oracle {

using objects::Call;
using objects::Identity;
using objects::Instant;
using objects::kNever;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;
using objects::Promise;
using verify::Machine;

namespace {

// The answer that the object gives now. False: it allows no such operation at this moment.
bool perform(Machine& machine, const Promise& promise, Operation& operation, bool refusals) {
  Machine next = machine;
  operation.outcome = Outcome::unknown;  // any result is allowed: lets the machine tell whether it can be done at all
  const bool allowed = apply(next, promise, operation);
  operation.outcome = Outcome::ok;
  if (!allowed) {
    if (!refusals) return false;
    operation.outcome = Outcome::refused;
    return apply(next = machine, promise, operation);
  }
  if (const auto* value = std::get_if<verify::Register>(&machine); value != nullptr && operation.f == Call::read) {
    operation.result = value->value;
  } else if (const auto* counter = std::get_if<verify::Counter>(&machine);
             counter != nullptr && operation.f == Call::read) {
    operation.result = counter->count;
  } else if (const auto* set = std::get_if<verify::Set>(&machine); set != nullptr && operation.f == Call::contains) {
    operation.result = set->elements.contains(operation.argument) ? 1 : 0;
  } else if (set != nullptr && operation.f == Call::read) {
    const auto seen = std::ranges::find_if(promise.sets, [&](const std::vector<std::int64_t>& each) {
      return std::set<std::int64_t>(each.begin(), each.end()) == set->elements;
    });
    operation.result = seen - promise.sets.begin();
    return seen != promise.sets.end();
  } else if (operation.f == Call::extract) {
    operation.result = kNothing;
    if (const auto* queue = std::get_if<verify::Queue>(&machine); queue != nullptr && !queue->items.empty()) {
      operation.result = queue->items.front();
    } else if (const auto* stack = std::get_if<verify::Stack>(&machine); stack != nullptr && !stack->items.empty()) {
      operation.result = stack->items.back();
    } else if (const auto* heap = std::get_if<verify::PriorityQueue>(&machine);
               heap != nullptr && !heap->items.empty()) {
      operation.result = *heap->items.begin();
    }
  } else if (promise.kind == objects::Kind::fenced_mutex && operation.f == Call::acquire) {
    operation.result = std::get<verify::Mutex>(next).token;
  }
  machine = next;
  return true;
}

struct Client {
  std::size_t made = 0;
  bool done = false;
  std::size_t open = SIZE_MAX;  // number in the history of the operation under way
  bool performed = false;
  bool allowed = false;
};

// Swaps neighbouring events of different processes.
void perturb(History& history, std::size_t swaps, Rng& rng) {
  struct End {
    std::size_t operation;
    bool is_call;
  };
  std::vector<End> events;
  for (std::size_t i = 0; i < history.size(); ++i) {
    events.push_back({i, true});
    if (history[i].ret != kNever) events.push_back({i, false});
  }
  const auto instant = [&](const End& end) -> Instant& {
    return end.is_call ? history[end.operation].call : history[end.operation].ret;
  };
  for (std::size_t swap = 0; swap < swaps && events.size() > 1; ++swap) {
    std::ranges::sort(events, {}, instant);
    const std::size_t at = rng.below(events.size() - 1);
    if (history[events[at].operation].process == history[events[at + 1].operation].process) continue;
    std::swap(instant(events[at]), instant(events[at + 1]));
  }
}

}  // namespace

History simulate(const Promise& promise, const Simulation& simulation, Rng& rng) {
  History history;
  Machine machine = verify::initial_machine(promise);
  std::vector<Client> clients(simulation.processes);
  std::vector<bool> dropped;
  Instant now = 0;
  const bool goes_on = promise.identity != Identity::crash;
  for (std::size_t live = clients.size(); live > 0;) {
    const auto process = static_cast<std::uint32_t>(rng.below(clients.size()));
    Client& client = clients[process];
    if (client.done) continue;
    if (client.open == SIZE_MAX) {
      std::optional<Operation> next;
      if (history.size() < simulation.operations) next = simulation.next(rng, process, client.made);
      if (!next) {
        client.done = true;
        --live;
        continue;
      }
      ++client.made;
      next->process = process;
      next->call = now++;
      client.open = history.size();
      client.performed = false;
      history.push_back(*next);
      dropped.push_back(false);
      continue;
    }
    Operation& operation = history[client.open];
    if (!client.performed) {
      client.performed = true;
      const bool lost = rng.chance(simulation.unknown);
      // A request whose answer is lost may never have arrived.
      client.allowed = lost && rng.chance(0.5) ? false : perform(machine, promise, operation, simulation.refusals);
      if (!lost) continue;
      const bool keeps_result = operation.f == Call::cas;
      operation.outcome = Outcome::unknown;
      if (!keeps_result) operation.result = kNothing;
      client.open = SIZE_MAX;
      if (!goes_on) {
        client.done = true;
        --live;
      }
      continue;
    }
    if (client.allowed) {
      operation.ret = now++;
    } else {
      dropped[client.open] = true;
    }
    client.open = SIZE_MAX;
  }
  for (std::size_t i = history.size(); i-- > 0;) {
    if (dropped[i]) history.erase(history.begin() + static_cast<std::ptrdiff_t>(i));
  }
  perturb(history, simulation.swaps, rng);
  normalise(history);
  return history;
}

}  // namespace holdfast::oracle
