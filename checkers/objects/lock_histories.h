// For tests: all small lock histories, and random ones.
#pragma once

#include <functional>

#include "checkers/oracle/oracle.h"

namespace holdfast::objects::testing {

struct Shape {
  std::size_t operations = 4;
  bool unknown = true;
  bool refused_releases = false;
  bool refused_acquires = false;
};

// May this operation come next? `before` holds the operations of the history so far, in order of their calls.
inline bool may_follow(const Promise& promise, const oracle::History& before, const Operation& next) {
  for (const Operation& each : before) {
    if (each.process == next.process) {
      if (each.unknown() ? promise.identity == Identity::crash : each.ret > next.call) return false;
    }
    if (promise.identity != Identity::hold || each.hold != next.hold) continue;
    if (each.process != next.process) return false;
    if (each.f == Call::acquire && next.f == Call::acquire) return false;
  }
  return true;
}

// Every history of that shape: all arrangements in time, outcomes, kinds and owners, up to names. Where holds have ids
// of their own every hold is a process of its own here.
inline void for_each_lock_history(const Promise& promise, const Shape& shape,
                                  const std::function<void(const oracle::History&)>& visit) {
  const std::size_t count = shape.operations;
  for (std::uint32_t mask = 0; mask < (shape.unknown ? 1U << count : 1U); ++mask) {
    std::vector<bool> unknown(count);
    for (std::size_t i = 0; i < count; ++i) unknown[i] = (mask >> i & 1U) != 0;
    oracle::for_each_arrangement(unknown, [&](const std::vector<Instant>& call, const std::vector<Instant>& ret) {
      oracle::History history;
      const std::function<void(std::uint32_t)> extend = [&](std::uint32_t owners) {
        const std::size_t i = history.size();
        if (i == count) return visit(history);
        for (std::uint32_t owner = 0; owner <= owners; ++owner) {
          for (const Call f : {Call::acquire, Call::release}) {
            for (const bool refused : {false, true}) {
              const bool tells = f == Call::acquire ? shape.refused_acquires : shape.refused_releases;
              if (refused && (unknown[i] || !tells)) continue;
              const Operation next{
                  .call = call[i],
                  .ret = ret[i],
                  .process = owner,
                  .hold = owner,
                  .f = f,
                  .outcome = refused ? Outcome::refused : (unknown[i] ? Outcome::unknown : Outcome::ok)};
              if (!may_follow(promise, history, next)) continue;
              history.push_back(next);
              extend(std::max(owners, owner + 1));
              history.pop_back();
            }
          }
        }
      };
      extend(0);
    });
  }
}

struct Mix {
  std::size_t operations = 8;
  std::uint32_t processes = 3;
  double unknown = 0.2;
  double refused_release = 0;
  double refused_acquire = 0;
  bool ties = false;
};

// Anything at all that the promise's identity allows a recorder to write down.
inline oracle::History random_lock_history(const Promise& promise, const Mix& mix, Rng& rng) {
  struct Client {
    Instant now = 0;
    std::uint32_t hold = kNone;
    bool retired = false;
  };
  oracle::History history;
  std::vector<Client> clients(mix.processes);
  std::uint32_t holds = 0;
  const std::uint64_t span = mix.ties ? 3 : 8;
  while (history.size() < mix.operations) {
    const auto process = static_cast<std::uint32_t>(rng.below(clients.size()));
    Client& client = clients[process];
    if (client.retired) {
      client = {.now = client.now, .hold = kNone, .retired = false};
      if (promise.identity == Identity::crash) break;
    }
    Operation next{.process = process, .f = rng.chance(0.5) ? Call::acquire : Call::release};
    if (promise.identity == Identity::hold) {
      if (next.f == Call::acquire || client.hold == kNone) client.hold = holds++;
      next.hold = client.hold;
    }
    next.call = client.now + static_cast<Instant>(rng.below(span));
    const bool refused = rng.chance(next.f == Call::acquire ? mix.refused_acquire : mix.refused_release);
    if (refused) {
      next.outcome = Outcome::refused;
      if (next.f == Call::acquire) client.hold = kNone;
    } else if (rng.chance(mix.unknown)) {
      next.outcome = Outcome::unknown;
    }
    if (next.unknown()) {
      client.now = next.call + 1;
      client.retired = promise.identity == Identity::crash;
    } else {
      next.ret = next.call + 1 + static_cast<Instant>(rng.below(span));
      client.now = next.ret + (mix.ties ? 0 : 1);
    }
    history.push_back(next);
  }
  if (!mix.ties) {  // no two events at one instant
    for (Operation& each : history) {
      each.call = each.call * 16 + each.process;
      if (each.ret != kNever) each.ret = each.ret * 16 + 8 + each.process;
    }
  }
  oracle::normalise(history);
  return history;
}

// A correct lock at work, then some neighbouring events change places.
inline oracle::History simulated_lock_history(const Promise& promise, const Mix& mix, std::size_t swaps, Rng& rng) {
  std::vector<std::uint32_t> held(mix.processes, kNone);
  std::uint32_t holds = 0;
  oracle::Simulation simulation;
  simulation.operations = mix.operations;
  simulation.processes = mix.processes;
  simulation.unknown = mix.unknown;
  simulation.refusals = mix.refused_release > 0 || mix.refused_acquire > 0;
  simulation.swaps = swaps;
  std::vector<bool> acquires(mix.processes, true);
  simulation.next = [&](Rng& choice, std::uint32_t process, std::size_t) -> std::optional<Operation> {
    Operation next{.f = acquires[process] != choice.chance(0.15) ? Call::acquire : Call::release};
    acquires[process] = next.f != Call::acquire;
    if (promise.identity == Identity::hold) {
      if (next.f == Call::acquire || held[process] == kNone) held[process] = holds++;
      next.hold = held[process];
    }
    return next;
  };
  return oracle::simulate(promise, simulation, rng);
}

}  // namespace holdfast::objects::testing
