// The general search against the oracle: every kind, all identities, and the certificates.
#include <gtest/gtest.h>

#include "checkers/objects/data_cases.h"
#include "checkers/objects/decision.h"

namespace holdfast::objects {
namespace {

using testing::agree;
using testing::at;
using testing::History;
using testing::ok;
using testing::refused;
using testing::try_every_history;
using testing::unknown;

// With and without a second thread.
Decision on_any_threads(const Promise& promise, Operations operations, const Limits& limits) {
  Limits mine = limits;
  mine.threads = 1 + static_cast<unsigned>(operations.size() % 2);
  return search(promise, operations, mine);
}

// Each operation of the menu as it is, with unknown outcome, and, where the menu has it so, refused.
std::vector<Operation> menu_of(const std::vector<Operation>& known) {
  std::vector<Operation> menu = known;
  for (Operation each : known) {
    if (!each.ok()) continue;
    each.outcome = Outcome::unknown;
    if (each.f != Call::cas) each.result = kNothing;
    menu.push_back(each);
  }
  return menu;
}

struct Object {
  Promise promise;
  std::vector<Operation> menu;
};

std::vector<Operation> lock_menu(const std::vector<std::int64_t>& wanted, const std::vector<std::int64_t>& tokens) {
  std::vector<Operation> menu = {ok(Call::release, kNothing), refused(Call::release, kNothing)};
  for (const std::int64_t each : wanted) {
    for (const std::int64_t token : tokens) menu.push_back(ok(Call::acquire, each, token));
    menu.push_back(refused(Call::acquire, each));
  }
  return menu_of(menu);
}

std::vector<Object> data_objects() {
  const auto items = menu_of({ok(Call::insert, 1), ok(Call::insert, 2), ok(Call::extract, kNothing, 1),
                              ok(Call::extract, kNothing, 2), ok(Call::extract, kNothing, kNothing)});
  const auto elements = menu_of({ok(Call::add, 1), ok(Call::add, 2), ok(Call::remove, 1), refused(Call::remove, 1),
                                 ok(Call::contains, 1, 1), ok(Call::contains, 1, 0), ok(Call::contains, 2, 1)});
  auto whole = elements;
  for (std::int64_t i = 0; i < 4; ++i) whole.push_back(ok(Call::read, kNothing, i));
  const auto texts = menu_of({ok(Call::append, 0), ok(Call::append, 1), ok(Call::write, 1), ok(Call::read, kNothing, 2),
                              ok(Call::read, kNothing, 3), ok(Call::read, kNothing, 4), ok(Call::read, kNothing, 0)});
  std::vector<Operation> transactions;
  for (std::int64_t i = 0; i < 6; ++i) transactions.push_back(ok(Call::transact, i, i));
  return {
      {{.kind = Kind::register_},
       menu_of({ok(Call::read, kNothing, 1), ok(Call::read, kNothing, 2), ok(Call::write, 1), ok(Call::write, 2),
                ok(Call::cas, 1, 2), ok(Call::cas, 2, 3), refused(Call::cas, 1, 9), refused(Call::cas, 2, 9)})},
      {{.kind = Kind::counter, .initial = 1},
       menu_of({ok(Call::increment, kNothing), ok(Call::increment, 2), ok(Call::read, kNothing, 1),
                ok(Call::read, kNothing, 2), ok(Call::read, kNothing, 3)})},
      {{.kind = Kind::set}, elements},
      {{.kind = Kind::set, .sets = {{}, {1}, {2}, {2, 1}}}, whole},
      {{.kind = Kind::queue}, items},
      {{.kind = Kind::stack}, items},
      {{.kind = Kind::priority_queue}, items},
      {{.kind = Kind::append_map, .texts = {"a", "b", "", "ab", "ba"}}, texts},
      {{.kind = Kind::multi_register,
        .sets = {{kRead, 0, 1},
                 {kWrite, 0, 1},
                 {kRead, 0, 1, kRead, 1, 1},
                 {kWrite, 0, 2, kWrite, 1, 1},
                 {kRead, 1, kNothing},
                 {kRead, 1, 1, kWrite, 0, 1}}},
       menu_of(transactions)},
  };
}

std::vector<Object> lock_objects() {
  const std::vector<std::int64_t> none = {kNothing};
  std::vector<Object> objects = {
      {{.kind = Kind::mutex}, lock_menu(none, none)},
      {{.kind = Kind::mutex, .reentrancy = 2}, lock_menu(none, none)},
      {{.kind = Kind::anonymous_mutex}, lock_menu(none, none)},
      {{.kind = Kind::anonymous_mutex, .permits = 2}, lock_menu(none, none)},
      {{.kind = Kind::rw_lock}, lock_menu({kRead, kWrite}, none)},
      {{.kind = Kind::semaphore, .permits = 2}, lock_menu({kNothing, 2}, none)},
      {{.kind = Kind::multi_lock, .sets = {{0}, {1}, {0, 1}}}, lock_menu({0, 1, 2}, none)},
      {{.kind = Kind::fenced_mutex}, lock_menu(none, {1, 2, 3})},
      {{.kind = Kind::fenced_mutex, .reentrancy = 2, .fence = FenceRule::by_one}, lock_menu(none, {1, 2, 3})},
      {{.kind = Kind::fair_mutex}, lock_menu(none, none)},
  };
  objects.back().menu.push_back(ok(Call::ticket, kNothing));
  objects.back().menu.push_back(ok(Call::ticket, kNothing));
  return objects;
}

// Operations of the menu by a few processes; the identity decides who goes on after an unknown outcome.
History random_history(const Promise& promise, const std::vector<Operation>& menu, Rng& rng) {
  const auto processes = static_cast<std::uint32_t>(1 + rng.below(4));
  const bool ties = rng.chance(0.3);
  std::vector<Instant> next(processes);
  std::vector<std::uint32_t> hold(processes);
  std::uint32_t holds = processes;
  History history;
  for (std::size_t i = 2 + rng.below(6); i-- > 0;) {
    const auto who = static_cast<std::uint32_t>(rng.below(processes));
    if (next[who] == kNever) continue;
    const Instant call = next[who] + static_cast<Instant>(rng.below(4));
    Operation each = at(call, call + static_cast<Instant>(rng.below(6)), menu[rng.below(menu.size())], who);
    if (each.f == Call::acquire || each.f == Call::ticket) hold[who] = holds++;
    each.hold = hold[who];
    next[who] = each.unknown() ? call + 1 : each.ret + (ties ? static_cast<Instant>(rng.below(2)) : 1);
    if (each.unknown() && promise.identity == Identity::crash) next[who] = kNever;
    history.push_back(each);
  }
  std::ranges::stable_sort(history, {}, &Operation::call);
  return history;
}

void try_random(std::vector<Object> objects, std::uint64_t seed) {
  Rng rng(seed);
  for (Object& object : objects) {
    for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
      object.promise.identity = static_cast<Identity>(i % 4);
      if (!agree(object.promise, random_history(object.promise, object.menu, rng), on_any_threads)) return;
    }
  }
}
TEST(Search, RandomHistoriesOfData) {
  try_random(data_objects(), 1);
}
TEST(Search, RandomHistoriesOfLocks) {
  try_random(lock_objects(), 2);
}

TEST(Search, AllSmallHistories) {
  const auto any = [](const History&) { return true; };
  for (const Object& object : data_objects()) {
    EXPECT_GT(try_every_history(object.promise, object.menu, 2, any, on_any_threads), 100U);
  }
  for (const Object& object : lock_objects()) {
    EXPECT_GT(try_every_history(object.promise, object.menu, 2, any, on_any_threads), 30U);
  }
  const Promise plain{.kind = Kind::register_};
  const std::vector<Operation> menu = {ok(Call::read, kNothing, 1),
                                       ok(Call::read, kNothing, 2),
                                       ok(Call::write, 1),
                                       ok(Call::write, 2),
                                       unknown(Call::write, 1),
                                       ok(Call::cas, 1, 2),
                                       refused(Call::cas, 1, kNothing)};
  EXPECT_GT(try_every_history(plain, menu, 3, any, on_any_threads), 3'000U);
}

// Two holds overlap: their two acquires, and nothing of what came before.
TEST(Search, TheCoreOfAnOverlapIsTwoHolds) {
  const Promise promise{.kind = Kind::mutex, .identity = Identity::hold};
  History history;
  Instant now = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (const Call f : {Call::acquire, Call::release}) {
      history.push_back(at(now, now + 1, ok(f, kNothing), i % 5));
      history.back().hold = i;
      now += 2;
    }
  }
  EXPECT_EQ(search(promise, history, {}).answer, Answer::linearizable);
  std::swap(history[161].call, history[162].call);
  std::swap(history[161].ret, history[162].ret);
  std::swap(history[161], history[162]);
  std::swap(history[163].process, history[162].process);
  const Decision decision = search(promise, history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "no-order");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{160, 161}));
  EXPECT_EQ(decision.from, history[160].call);
  EXPECT_EQ(decision.to, history[161].ret);
}

TEST(Search, AStaleReadNeedsThreeOperations) {
  const Promise promise{.kind = Kind::register_};
  History history;
  for (Instant i = 0; i < 2'000; ++i) {
    history.push_back(at(4 * i, 4 * i + 1, ok(Call::write, i), 0));
    history.push_back(at(4 * i + 2, 4 * i + 3, ok(Call::read, kNothing, i), 1));
  }
  EXPECT_EQ(search(promise, history, {}).answer, Answer::linearizable);
  history[3'001].result = 1'490;
  const Decision decision = search(promise, history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core.size(), 3U);
  EXPECT_EQ(decision.core.back(), 3'001U);
}

TEST(Search, WhatIsNotDecidedSaysHowFarItCame) {
  const Promise promise{.kind = Kind::register_};
  History history;
  for (Instant i = 0; i < 2'000; ++i) history.push_back(at(2 * i, 2 * i + 1, ok(Call::write, i), 0));
  EXPECT_EQ(search(promise, history, {}).answer, Answer::linearizable);
  const Decision no_memory = search(promise, history, {.bytes = 1});
  EXPECT_EQ(no_memory.answer, Answer::undecided);
  EXPECT_EQ(no_memory.because, "the memory ran out");
  EXPECT_GT(no_memory.proven_until, 0);
  const Decision no_time = search(promise, history, {.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(no_time.answer, Answer::undecided);
  EXPECT_EQ(no_time.because, "the time ran out");
}

TEST(Search, SenselessOperationsAreNamed) {
  const History history = {at(0, 1, ok(Call::insert, 1))};
  EXPECT_THROW(search({.kind = Kind::register_}, history, {}), std::invalid_argument);
  EXPECT_THROW(search({.kind = Kind::rw_lock}, history, {}), std::invalid_argument);
  EXPECT_THROW(search({.kind = Kind::lease_mutex}, history, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
