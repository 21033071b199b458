#include "checkers/online/register_monitor.h"

#include "checkers/objects/data_cases.h"
#include "checkers/objects/register.h"

namespace holdfast::online {
namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;
using objects::Promise;
using objects::testing::at;
using objects::testing::ok;
using objects::testing::unknown;
using oracle::History;

const Promise kRegister{.kind = objects::Kind::register_};

// A call or return of a history in which some operations turn out not to have happened.
struct Event {
  std::size_t operation;
  bool is_call;
};

std::vector<Event> events_of(const History& history) {
  std::vector<std::pair<Instant, Event>> timed;
  for (std::size_t i = 0; i < history.size(); ++i) {
    timed.push_back({history[i].call, {i, true}});
    if (history[i].ret != kNever) timed.push_back({history[i].ret, {i, false}});
  }
  std::ranges::stable_sort(timed, {}, [](const auto& each) { return std::pair(each.first, !each.second.is_call); });
  std::vector<Event> events;
  for (const auto& each : timed) events.push_back(each.second);
  return events;
}

// The number of the first event after which the prefix is impossible; SIZE_MAX: none.
std::size_t first_impossible(const History& history, const std::vector<bool>& fails) {
  const std::vector<Event> events = events_of(history);
  std::vector<bool> returned(history.size());
  for (std::size_t k = 0; k < events.size(); ++k) {
    if (events[k].is_call) continue;
    returned[events[k].operation] = true;
    History prefix;
    const Instant now = history[events[k].operation].ret;
    for (std::size_t i = 0; i < history.size(); ++i) {
      if (history[i].call > now || (returned[i] && fails[i])) continue;
      Operation operation = history[i];
      if (!returned[i]) {
        operation.outcome = Outcome::unknown;
        operation.ret = kNever;
        if (operation.f != Call::cas) operation.result = kNothing;
      }
      prefix.push_back(operation);
    }
    if (!oracle::possible(kRegister, prefix)) return k;
  }
  return SIZE_MAX;
}

// The number of the event at which the monitor answers.
std::size_t first_reported(const History& history, const std::vector<bool>& fails, std::size_t forget_after) {
  RegisterMonitor monitor(kNothing, forget_after);
  const std::vector<Event> events = events_of(history);
  std::size_t reported = SIZE_MAX;
  for (std::size_t k = 0; k < events.size(); ++k) {
    const Operation& operation = history[events[k].operation];
    const std::uint64_t number = events[k].operation;
    if (events[k].is_call) {
      monitor.call(number, operation);
      // That the outcome is not known may be said at once or never.
      if (operation.unknown() && number % 2 == 0) {
        EXPECT_FALSE(monitor.returned(number, Returned::unknown, kNothing, operation.call));
      }
      continue;
    }
    const Returned outcome = fails[events[k].operation] ? Returned::fail
                             : operation.refused()      ? Returned::refused
                                                        : Returned::ok;
    const auto violation = monitor.returned(number, outcome, operation.result, operation.ret);
    if (!violation) continue;
    EXPECT_EQ(reported, SIZE_MAX) << "reported twice";
    EXPECT_EQ(violation->time, operation.ret);
    EXPECT_FALSE(violation->rule.empty() || violation->because.empty() || violation->operations.empty());
    reported = k;
  }
  EXPECT_EQ(monitor.violated(), reported != SIZE_MAX);
  return reported;
}

::testing::AssertionResult agrees(const History& history, const std::vector<bool>& fails, Rng& rng) {
  const std::size_t truth = first_impossible(history, fails);
  const std::size_t forget_after = rng.chance(0.7) ? 1 : 1024;
  const std::size_t reported = first_reported(history, fails, forget_after);
  if (truth == reported) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "reported " << reported << ", impossible from " << truth
                                               << " on, forgets after " << forget_after << '\n'
                                               << oracle::print(kRegister, history) << "failed:";
  for (std::size_t i = 0; i < fails.size(); ++i) {
    if (fails[i]) failure << ' ' << i;
  }
  return failure;
}

// Every written value is written once.
History unique(History history) {
  std::uint64_t seen = 0;
  std::erase_if(history, [&seen](const Operation& each) {
    if (each.f == Call::read) return false;
    const std::int64_t value = each.f == Call::cas ? each.result : each.argument;
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(value);
    return (std::exchange(seen, seen | bit) & bit) != 0;
  });
  return history;
}

TEST(RegisterMonitor, SameFirstEventAsEveryPrefixOnRandomHistories) {
  Rng rng(71);
  std::vector<Operation> menu = {ok(Call::read, kNothing, kNothing)};
  for (std::int64_t value = 1; value <= 3; ++value) {
    for (int often = 0; often < 3; ++often) menu.push_back(ok(Call::read, kNothing, value));
    menu.push_back(ok(Call::write, value));
    menu.push_back(ok(Call::write, value));
    menu.push_back(unknown(Call::write, value));
    for (std::int64_t expected = 0; expected <= 3; ++expected) {
      const std::int64_t from = expected == 0 ? kNothing : expected;
      if (expected != value && rng.chance(0.6)) menu.push_back(ok(Call::cas, from, value));
      if (expected != value && rng.chance(0.4)) menu.push_back(unknown(Call::cas, from, value));
    }
  }
  std::size_t violations = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const History history = unique(objects::testing::random_history(menu, 3 + rng.below(6), false, rng));
    std::vector<bool> fails(history.size());
    for (std::size_t k = 0; k < history.size(); ++k) fails[k] = history[k].ret != kNever && rng.chance(0.08);
    violations += first_impossible(history, fails) != SIZE_MAX ? 1U : 0U;
    ASSERT_TRUE(agrees(history, fails, rng));
  }
  EXPECT_GT(violations, oracle::random_cases() / 20);
  EXPECT_LT(violations, oracle::random_cases() * 19 / 20);
}

History simulated(Rng& rng, std::size_t operations, std::size_t swaps, bool refusals) {
  std::int64_t written = 0;
  oracle::Simulation simulation;
  simulation.operations = operations;
  simulation.processes = 2 + static_cast<std::uint32_t>(rng.below(4));
  simulation.unknown = rng.chance(0.5) ? 0.15 : 0.0;
  simulation.swaps = swaps;
  simulation.refusals = refusals;
  simulation.next = [&](Rng& random, std::uint32_t, std::size_t) -> std::optional<Operation> {
    if (random.chance(0.5)) return ok(Call::read, kNothing);
    if (random.chance(0.6)) return ok(Call::write, ++written);
    const auto expected = written - static_cast<std::int64_t>(random.below(3));
    return ok(Call::cas, expected <= 0 ? kNothing : expected, ++written);
  };
  return oracle::simulate(kRegister, simulation, rng);
}

TEST(RegisterMonitor, SameFirstEventAsEveryPrefixOnSimulatedHistories) {
  Rng rng(72);
  std::size_t violations = 0;
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    const History history = simulated(rng, 6 + rng.below(7), rng.below(24), false);
    const std::vector<bool> fails(history.size());
    violations += first_impossible(history, fails) != SIZE_MAX ? 1U : 0U;
    ASSERT_TRUE(agrees(history, fails, rng));
  }
  EXPECT_GT(violations, oracle::random_cases() / 50);
}

TEST(RegisterMonitor, RefusalsNeverRaiseAFalseAlarm) {
  Rng rng(73);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 10; ++i) {
    const History history = simulated(rng, 6 + rng.below(7), rng.below(6), true);
    const std::vector<bool> fails(history.size());
    ASSERT_GE(first_reported(history, fails, 1), first_impossible(history, fails)) << oracle::print(kRegister, history);
  }
}

// Long histories against the decider: forgetting must not change the answer.
TEST(RegisterMonitor, SameAnswerAsTheDeciderOnLongHistories) {
  Rng rng(74);
  std::size_t violations = 0;
  for (int i = 0; i < 300; ++i) {
    const History history = simulated(rng, 300, rng.below(100), false);
    const std::vector<bool> fails(history.size());
    const bool invalid = decide_register(kRegister, history, {}).answer == objects::Answer::violation;
    violations += invalid ? 1U : 0U;
    for (const std::size_t forget_after : {1U, 16U, 100'000U}) {
      ASSERT_EQ(first_reported(history, fails, forget_after) != SIZE_MAX, invalid);
    }
  }
  EXPECT_GT(violations, 10U);
  EXPECT_LT(violations, 290U);
}

TEST(RegisterMonitor, StaleReadIsNamedWhenItReturnsAndItsTwinIsSilent) {
  for (const std::int64_t seen : {1, 2}) {
    RegisterMonitor monitor(kNothing);
    monitor.call(0, at(0, 0, ok(Call::write, 1)));
    EXPECT_FALSE(monitor.returned(0, Returned::ok, kNothing, 1));
    monitor.call(1, at(2, 0, ok(Call::write, 2)));
    EXPECT_FALSE(monitor.returned(1, Returned::ok, kNothing, 3));
    monitor.call(2, at(4, 0, ok(Call::read, kNothing)));
    const auto violation = monitor.returned(2, Returned::ok, seen, 5);
    EXPECT_EQ(violation.has_value(), seen == 1);
    if (!violation) continue;
    EXPECT_EQ(violation->rule, "stale-read");
    EXPECT_EQ(violation->operations, (std::vector<std::uint64_t>{0, 2, 1}));
  }
}

TEST(RegisterMonitor, ForgetsWhatIsOver) {
  RegisterMonitor monitor(kNothing);
  Instant now = 0;
  std::uint64_t number = 0;
  std::size_t most = 0;
  for (std::int64_t value = 1; value < 200'000; ++value) {
    const bool swaps = value % 3 == 0;
    monitor.call(++number, at(now++, 0, swaps ? ok(Call::cas, value - 1, value) : ok(Call::write, value)));
    ASSERT_FALSE(monitor.returned(number, Returned::ok, kNothing, now++));
    monitor.call(++number, at(now++, 0, ok(Call::read, kNothing)));
    ASSERT_FALSE(monitor.returned(number, Returned::ok, value, now++));
    most = std::max(most, monitor.remembered());
  }
  EXPECT_LT(most, 5'000U);
  monitor.call(++number, at(now++, 0, ok(Call::read, kNothing)));
  EXPECT_TRUE(monitor.returned(number, Returned::ok, 17, now++));
  EXPECT_EQ(monitor.remembered(), 0U);
}

TEST(RegisterMonitor, RefusesWhatMakesNoSense) {
  RegisterMonitor monitor(kNothing);
  EXPECT_THROW(monitor.call(0, at(0, 0, ok(Call::insert, 1))), std::invalid_argument);
  monitor.call(1, at(1, 0, ok(Call::write, 1)));
  EXPECT_THROW(monitor.call(2, at(2, 0, ok(Call::write, 1))), std::invalid_argument);
  EXPECT_THROW(monitor.returned(77, Returned::ok, kNothing, 3), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::online
