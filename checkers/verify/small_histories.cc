#include "checkers/verify/small_histories.h"

#include <algorithm>
#include <set>

#include "checkers/verify/sequential.h"

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::kNever;
using objects::kNothing;
using objects::Outcome;
using oracle::History;
using oracle::Simulation;

using Next = std::optional<Operation>;

std::int64_t pick(Rng& rng, std::uint64_t below) {
  return static_cast<std::int64_t>(rng.below(below));
}

Simulation clients(double unknown, bool refusals, std::size_t swaps,
                   std::function<Next(Rng&, std::uint32_t, std::size_t)> next) {
  return {.processes = 3, .unknown = unknown, .refusals = refusals, .swaps = swaps, .next = std::move(next)};
}

Next register_call(Rng& rng, std::int64_t value, std::uint64_t values) {
  switch (rng.below(4)) {
    case 0:
      return Operation{.argument = value, .f = Call::write};
    case 1:
    case 2:
      return Operation{.f = Call::read};
    default:
      return Operation{.argument = pick(rng, values), .result = value, .f = Call::cas};
  }
}

void add_registers(std::vector<Habit>& list) {
  list.push_back({"register",
                  {.kind = Kind::register_, .initial = 0},
                  clients(0.2, true, 3, [](Rng& rng, std::uint32_t /*process*/, std::size_t /*made*/) {
                    return register_call(rng, pick(rng, 3), 3);
                  })});
  list.push_back({"register of unique values",
                  {.kind = Kind::register_},
                  clients(0.2, false, 3,
                          [](Rng& rng, std::uint32_t process, std::size_t made) {
                            return register_call(rng, process + static_cast<std::int64_t>(made) * 3, 12);
                          }),
                  0.05});
  // Two registers of two values: every transaction of at most two steps.
  Promise transactions{.kind = Kind::multi_register, .initial = 0};
  for (std::int64_t mode = 0; mode < 4; ++mode) {
    for (std::int64_t values = 0; values < 4; ++values) {
      transactions.sets.push_back({mode & 1, 0, values & 1, mode >> 1, 1, values >> 1});
    }
  }
  list.push_back({"multi-register", transactions,
                  clients(0.2, false, 2, [](Rng& rng, std::uint32_t /*process*/, std::size_t /*made*/) -> Next {
                    const std::int64_t mode = pick(rng, 4);
                    const std::int64_t values = pick(rng, 4);
                    const std::int64_t flips = mode & pick(rng, 4);  // what a read answers may be anything
                    return Operation{
                        .argument = mode * 4 + values, .result = mode * 4 + (values ^ flips), .f = Call::transact};
                  })});
  Promise texts{.kind = Kind::append_map, .texts = {"", "a", "b", "aa", "ab", "ba", "aba", "aab", "abab"}};
  list.push_back({"map of texts", texts,
                  clients(0.2, false, 2, [](Rng& rng, std::uint32_t /*process*/, std::size_t /*made*/) -> Next {
                    if (rng.chance(0.3)) return Operation{.result = pick(rng, 9), .f = Call::read};
                    return Operation{.argument = pick(rng, 5), .f = rng.chance(0.3) ? Call::write : Call::append};
                  })});
}

void add_counters_and_sets(std::vector<Habit>& list) {
  for (const bool unit : {true, false}) {
    list.push_back({unit ? "counter" : "counter of any steps",
                    {.kind = Kind::counter, .initial = unit ? kNothing : 2},
                    clients(0.2, false, 3,
                            [unit](Rng& rng, std::uint32_t /*process*/, std::size_t /*made*/) -> Next {
                              if (rng.chance(0.4)) return Operation{.f = Call::read};
                              return Operation{.argument = unit ? kNothing : pick(rng, 4) - 1, .f = Call::increment};
                            }),
                    0.05});
  }
  Promise sets{.kind = Kind::set};
  for (std::int64_t number = 0; number < 16; ++number) {
    std::vector<std::int64_t>& elements = sets.sets.emplace_back();
    for (std::int64_t element = 0; element < 4; ++element) {
      if ((number >> element & 1) != 0) elements.push_back(element);
    }
  }
  for (const bool whole : {false, true}) {
    list.push_back({whole ? "set with whole reads" : "set", sets,
                    clients(0.2, true, 3,
                            [whole](Rng& rng, std::uint32_t /*process*/, std::size_t /*made*/) -> Next {
                              const std::int64_t element = pick(rng, whole ? 4 : 2);
                              if (whole && rng.chance(0.2)) return Operation{.result = pick(rng, 16), .f = Call::read};
                              if (rng.chance(0.4)) return Operation{.argument = element, .f = Call::add};
                              const bool looks = rng.chance(whole ? 0.2 : 0.6);
                              return Operation{.argument = element, .f = looks ? Call::contains : Call::remove};
                            }),
                    0.1});
  }
}

void add_collections(std::vector<Habit>& list) {
  for (const Kind kind : {Kind::queue, Kind::stack, Kind::priority_queue}) {
    for (const bool unique : {true, false}) {
      list.push_back({std::string(to_string(kind)) + (unique ? " of unique values" : ""),
                      {.kind = kind},
                      clients(0.15, false, 4,
                              [unique](Rng& rng, std::uint32_t process, std::size_t made) -> Next {
                                if (rng.chance(0.5)) return Operation{.f = Call::extract};
                                const std::int64_t fresh = process + static_cast<std::int64_t>(made) * 3;
                                return Operation{.argument = unique ? fresh : pick(rng, 2), .f = Call::insert};
                              }),
                      0.03});
    }
  }
}

// Acquires and releases in turn, now and then the other one; a hold id for each attempt.
Simulation lock_clients(const Promise& promise, bool refusals, double unknown) {
  const auto next = [promise](Rng& rng, std::uint32_t process, std::size_t made) -> Next {
    Operation operation;
    const std::uint32_t steps = promise.kind == Kind::fair_mutex ? 3 : 2;
    operation.hold = process * 100 + static_cast<std::uint32_t>(made) / steps;
    auto turn = static_cast<std::uint32_t>(made) % steps;
    if (promise.identity != Identity::hold && rng.chance(0.2)) turn = static_cast<std::uint32_t>(rng.below(steps));
    if (steps == 2) ++turn;
    operation.f = turn == 0 ? Call::ticket : turn == 1 ? Call::acquire : Call::release;
    if (operation.f != Call::acquire && promise.kind != Kind::semaphore) return operation;
    if (promise.kind == Kind::rw_lock) operation.argument = pick(rng, 2);
    if (promise.kind == Kind::semaphore && rng.chance(0.3)) operation.argument = 1 + pick(rng, 2);
    if (promise.kind == Kind::multi_lock) operation.argument = pick(rng, 3);
    return operation;
  };
  return clients(unknown, refusals, 4, next);
}

void add_locks(std::vector<Habit>& list) {
  std::vector<Promise> promises = {{.kind = Kind::mutex},
                                   {.kind = Kind::mutex, .reentrancy = 2},
                                   {.kind = Kind::anonymous_mutex},
                                   {.kind = Kind::anonymous_mutex, .permits = 2},
                                   {.kind = Kind::rw_lock},
                                   {.kind = Kind::semaphore, .permits = 2},
                                   {.kind = Kind::multi_lock, .sets = {{0}, {1}, {0, 1}}},
                                   {.kind = Kind::fenced_mutex},
                                   {.kind = Kind::fenced_mutex, .reentrancy = 2},
                                   {.kind = Kind::fenced_mutex, .fence = objects::FenceRule::by_one},
                                   {.kind = Kind::fair_mutex}};
  for (Promise promise : promises) {
    for (const Identity identity : {Identity::crash, Identity::hold, Identity::session, Identity::reuse}) {
      // A fresh id for each attempt leaves nothing to enter again.
      if (identity == Identity::hold && promise.reentrancy > 1) continue;
      promise.identity = identity;
      for (const bool refusals : {false, true}) {
        list.push_back({std::string(to_string(promise.kind)) + " " + std::to_string(static_cast<int>(identity)) +
                            (refusals ? " with refusals" : ""),
                        promise, lock_clients(promise, refusals, 0.15), promise.kind == Kind::fenced_mutex ? 0.1 : 0.0,
                        0.1});
      }
    }
  }
}

// The service mixes something up: a grant that was a release, the other way round, or of something else.
void slip(const Promise& promise, Operation& operation, Rng& rng) {
  if (promise.kind == Kind::fair_mutex && rng.chance(0.3)) {
    operation.f = Call::ticket;
  } else if (operation.f == Call::acquire && rng.chance(0.6)) {
    operation.f = Call::release;
    operation.result = kNothing;
  } else if (operation.f == Call::release) {
    operation.f = Call::acquire;
    if (promise.kind == Kind::fenced_mutex) operation.result = 1 + pick(rng, 5);
  }
  if (promise.kind == Kind::rw_lock) operation.argument = pick(rng, 2);
  if (promise.kind == Kind::multi_lock) operation.argument = pick(rng, 3);
}

// Depth first over (what is behind us, state), like the oracle, but remembers the way.
class WitnessSearch {
 public:
  WitnessSearch(const Promise& promise, objects::Operations operations) : promise_(promise), operations_(operations) {}

  bool from(std::uint32_t done, const Machine& machine) {
    objects::Instant deadline = kNever;
    bool open = false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if ((done >> i & 1U) != 0 || operations_[i].unknown()) continue;
      deadline = std::min(deadline, operations_[i].ret);
      open = true;
    }
    if (!open) return true;
    if (!seen_.emplace(done, machine).second) return false;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if ((done >> i & 1U) != 0 || operation.call > deadline) continue;
      std::uint32_t behind = done | 1U << i;
      bool waits = false;
      const bool keeps_place = !operation.unknown() || has_ordered_sessions(promise_);
      for (std::uint32_t k = 0; k < i; ++k) {
        if (operations_[k].process != operation.process || !keeps_place) continue;
        waits |= (done >> k & 1U) == 0 && !operations_[k].unknown();
        if (has_ordered_sessions(promise_)) behind |= 1U << k;
      }
      Machine next = machine;
      if (waits || !apply(next, promise_, operation)) continue;
      way.push_back(i);
      if (from(behind, next)) return true;
      way.pop_back();
    }
    return false;
  }

  std::vector<std::uint32_t> way;

 private:
  const Promise& promise_;
  objects::Operations operations_;
  std::set<std::pair<std::uint32_t, Machine>> seen_;
};

}  // namespace

const std::vector<Habit>& habits() {
  static const std::vector<Habit> list = [] {
    std::vector<Habit> result;
    add_registers(result);
    add_counters_and_sets(result);
    add_collections(result);
    add_locks(result);
    return result;
  }();
  return list;
}

History random_history(const Habit& habit, std::size_t operations, Rng& rng) {
  Simulation simulation = habit.simulation;
  simulation.operations = operations;
  simulation.swaps = rng.below(simulation.swaps + 1);
  History history = simulate(habit.promise, simulation, rng);
  for (Operation& operation : history) {
    if (operation.ok() && operation.result != kNothing && operation.f != Call::cas && rng.chance(habit.lies)) {
      operation.result = pick(rng, operation.f == Call::contains ? 2 : 6);
    }
    if (is_lock(habit.promise.kind) && operation.ok() && rng.chance(habit.slips)) slip(habit.promise, operation, rng);
  }
  return history;
}

History taken_at_word(objects::Operations operations, const std::vector<std::uint32_t>& core) {
  History result;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    Operation operation = operations[i];
    const bool in_core = std::ranges::find(core, i) != core.end();
    const bool looks = operation.f == Call::read || operation.f == Call::contains || operation.refused() ||
                       (operation.f == Call::extract && operation.ok() && operation.result == kNothing);
    if (!in_core && looks) continue;
    if (!in_core) {
      if (operation.f != Call::cas) operation.result = kNothing;
      operation.outcome = Outcome::unknown;
      operation.ret = kNever;
    }
    result.push_back(operation);
  }
  return result;
}

objects::Decision certified(const Promise& promise, objects::Operations operations, Rng& rng) {
  WitnessSearch search(promise, operations);
  objects::Decision decision;
  if (search.from(0, initial_machine(promise))) {
    decision.witness = search.way;
    return decision;
  }
  decision.answer = objects::Answer::violation;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].unknown()) decision.core.push_back(i);
  }
  // Weakening one can make others superfluous that were not before (a waiter who left the queue): until nothing helps.
  for (bool again = true; again;) {
    again = false;
    std::vector<std::uint32_t> candidates = decision.core;
    for (std::size_t i = candidates.size(); i > 1; --i) std::swap(candidates[i - 1], candidates[rng.below(i)]);
    for (const std::uint32_t candidate : candidates) {
      std::vector<std::uint32_t> fewer = decision.core;
      std::erase(fewer, candidate);
      if (oracle::possible(promise, taken_at_word(operations, fewer))) continue;
      decision.core = fewer;
      again = true;
    }
  }
  return decision;
}

CoreFault fault_of_core(const Promise& promise, objects::Operations operations,
                        const std::vector<std::uint32_t>& core) {
  if (oracle::possible(promise, taken_at_word(operations, core))) return CoreFault::possible;
  for (const std::uint32_t member : core) {
    std::vector<std::uint32_t> fewer = core;
    std::erase(fewer, member);
    if (!oracle::possible(promise, taken_at_word(operations, fewer))) return CoreFault::not_minimal;
  }
  return CoreFault::none;
}

}  // namespace holdfast::verify
