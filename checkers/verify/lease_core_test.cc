// Cores of lease mutexes against an oracle that lets time pass in whole steps. (For one order of operations all
// conditions compare two instants, so whole instants suffice.)
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkers/verify/small_histories.h"
#include "checkers/verify/verify.h"

namespace holdfast::verify {
namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNone;
using objects::kNothing;
using objects::Operation;
using objects::Operations;
using objects::Outcome;
using objects::Promise;
using oracle::History;

struct Moment {
  std::uint32_t done = 0;
  std::uint32_t holder = kNone;
  Instant refreshed = 0;
  Instant least = 0;
  auto operator<=>(const Moment&) const = default;
};

class TimeStepped {
 public:
  TimeStepped(const Promise& promise, Operations operations) : promise_(promise), operations_(operations) {}

  bool possible() {
    Instant end = 0;
    for (const Operation& each : operations_) {
      end = std::max({end, each.call, each.ret == kNever ? 0 : each.ret});
    }
    std::set<Moment> moments = {Moment{}};
    for (Instant now = 0; now <= end; ++now) {
      std::set<Moment> begin;
      for (Moment moment : moments) {
        if (moment.holder != kNone && promise_.lease_greatest != kNever &&
            now > moment.refreshed + promise_.lease_greatest) {
          moment.holder = kNone;
        }
        begin.insert(tidy(moment));
      }
      moments = closure(begin, now);
      std::erase_if(moments, [&](const Moment& moment) { return late(moment, now); });
    }
    return !moments.empty();
  }

 private:
  static Moment tidy(Moment moment) {
    if (moment.holder == kNone) moment.refreshed = moment.least = 0;
    return moment;
  }

  [[nodiscard]] bool late(const Moment& moment, Instant now) const {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if ((moment.done >> i & 1U) == 0 && operations_[i].ret <= now) return true;
    }
    return false;
  }

  std::set<Moment> closure(const std::set<Moment>& begin, Instant now) {
    std::set<Moment> seen = begin;
    std::vector<Moment> open(begin.begin(), begin.end());
    const auto reach = [&](const Moment& moment) {
      if (seen.insert(tidy(moment)).second) open.push_back(tidy(moment));
    };
    while (!open.empty()) {
      const Moment moment = open.back();
      open.pop_back();
      if (moment.holder != kNone && moment.least != kNever && now >= moment.refreshed + moment.least) {
        Moment dropped = moment;
        dropped.holder = kNone;
        reach(dropped);
      }
      for (std::size_t i = 0; i < operations_.size(); ++i) {
        Moment next = moment;
        if ((moment.done >> i & 1U) == 0 && operations_[i].call <= now && in_turn(moment, i) &&
            perform(next, operations_[i], now)) {
          next.done |= 1U << i;
          reach(next);
        }
      }
    }
    return seen;
  }

  [[nodiscard]] bool in_turn(const Moment& moment, std::size_t number) const {
    if (operations_[number].unknown()) return true;
    for (std::size_t i = 0; i < number; ++i) {
      if ((moment.done >> i & 1U) == 0 && !operations_[i].unknown() &&
          operations_[i].process == operations_[number].process) {
        return false;
      }
    }
    return true;
  }

  bool perform(Moment& moment, const Operation& operation, Instant now) const {
    if (operation.f == Call::acquire) {
      if (operation.refused()) return moment.holder != kNone;
      if (moment.holder != kNone) return false;
      moment.holder = operation.hold;
      moment.refreshed = now;
      moment.least = operation.argument == kNothing ? promise_.lease_least : operation.argument;
      return true;
    }
    if (operation.refused()) return moment.holder != operation.hold;
    if (moment.holder != operation.hold) return false;
    if (operation.f == Call::renew) {
      moment.refreshed = now;
    } else {
      moment.holder = kNone;
    }
    return true;
  }

  const Promise& promise_;
  Operations operations_;
};

// Each process makes attempts one after the other: acquire, renewals, release, with random gaps.
History random_leases(Rng& rng, std::size_t most, bool told_taken) {
  History history;
  const std::uint32_t processes = 2 + static_cast<std::uint32_t>(rng.below(2));
  for (std::uint32_t process = 0; process < processes; ++process) {
    auto now = static_cast<Instant>(rng.below(6));
    std::uint32_t hold = process * 10;
    for (std::size_t made = 0; made < most / processes; ++made) {
      Operation operation{.call = now, .process = process, .hold = hold};
      operation.ret = now + static_cast<Instant>(rng.below(4));
      now = operation.ret + 1 + static_cast<Instant>(rng.below(3));
      const std::uint64_t turn = made == 0 ? 0 : rng.below(4);
      operation.f = made == 0 || turn == 3 ? Call::acquire : turn == 0 ? Call::release : Call::renew;
      if (made > 0 && turn == 3) operation.hold = ++hold;
      if (operation.f == Call::acquire && rng.chance(0.2)) operation.argument = 1 + static_cast<Instant>(rng.below(5));
      if (rng.chance(0.2) && (operation.f != Call::acquire || told_taken)) operation.outcome = Outcome::refused;
      if (rng.chance(0.2)) {
        operation.outcome = Outcome::unknown;
        operation.ret = kNever;
      }
      history.push_back(operation);
    }
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  return history;
}

bool possible(const Promise& promise, const History& history, const std::vector<std::uint32_t>& core) {
  return TimeStepped(promise, taken_at_word(history, core)).possible();
}

TEST(LeaseCore, SaysOfAnyClaimWhatLettingTimePassSays) {
  Rng rng(5);
  std::map<CoreFault, std::uint64_t> counts;
  const std::uint64_t rounds = oracle::random_cases() / 5;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Promise promise{.kind = objects::Kind::lease_mutex, .identity = objects::Identity::hold};
    promise.lease_least = rng.chance(0.2) ? kNever : 1 + static_cast<Instant>(rng.below(6));
    if (rng.chance(0.5) && promise.lease_least != kNever) {
      promise.lease_greatest = 5 + static_cast<Instant>(rng.below(4));
    }
    const History history = random_leases(rng, 4 + rng.below(7), rng.chance(0.2));
    std::vector<std::uint32_t> core;
    for (std::uint32_t i = 0; i < history.size(); ++i) {
      if (!history[i].unknown()) core.push_back(i);
    }
    const bool wrong = !possible(promise, history, core);
    for (std::size_t i = core.size(); wrong && i-- > 0;) {
      std::vector<std::uint32_t> fewer = core;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (rng.chance(0.95) && !possible(promise, history, fewer)) core = fewer;
    }
    if (rng.chance(0.3) && !core.empty())
      core.erase(core.begin() + static_cast<std::ptrdiff_t>(rng.below(core.size())));
    if (core.empty() || core.size() > 8) continue;
    CoreFault truth = possible(promise, history, core) ? CoreFault::possible : CoreFault::none;
    for (const std::uint32_t member : core) {
      std::vector<std::uint32_t> fewer = core;
      std::erase(fewer, member);
      if (truth == CoreFault::none && !possible(promise, history, fewer)) truth = CoreFault::not_minimal;
    }
    ++counts[truth];
    const auto fault = refute_core(promise, history, {.answer = objects::Answer::violation, .core = core});
    const CoreFault found = !fault                                      ? CoreFault::none
                            : fault->starts_with("the core can be met") ? CoreFault::possible
                                                                        : CoreFault::not_minimal;
    std::string members;
    for (const std::uint32_t member : core) members += ' ' + std::to_string(member);
    ASSERT_EQ(found, truth) << fault.value_or("accepted") << "\ncore:" << members << " L " << promise.lease_least
                            << " U " << promise.lease_greatest << '\n'
                            << oracle::print(promise, history);
  }
  EXPECT_GT(counts[CoreFault::none], rounds / 20);
  EXPECT_GT(counts[CoreFault::possible], rounds / 20);
  EXPECT_GT(counts[CoreFault::not_minimal], rounds / 100);
}

}  // namespace
}  // namespace holdfast::verify
