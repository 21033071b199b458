#include "checkers/objects/counter.h"

#include "checkers/objects/data_cases.h"

namespace holdfast::objects {
namespace {

using testing::agree;
using testing::at;
using testing::History;
using testing::ok;
using testing::refused;
using testing::unknown;

const Promise kCounter{.kind = Kind::counter};

std::vector<Operation> menu_up_to(std::int64_t count) {
  std::vector<Operation> menu = {ok(Call::increment, kNothing), unknown(Call::increment, kNothing)};
  for (std::int64_t value = 0; value <= count; ++value) menu.push_back(ok(Call::read, kNothing, value));
  return menu;
}

TEST(Counter, AllHistories) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U}) {
    const auto menu = menu_up_to(count == 5 ? 3 : 4);
    const auto suits = [](const History& history) {  // five: with two reads at least there is something to compare
      if (history.size() < 5) return true;
      return std::ranges::count_if(history, [](const Operation& each) { return each.f == Call::read; }) > 1;
    };
    EXPECT_GT(testing::try_every_history(kCounter, menu, count, suits, decide_counter), 0U);
  }
}

History simulated(Rng& rng, std::size_t operations, bool by_one) {
  oracle::Simulation simulation;
  simulation.operations = operations;
  simulation.processes = 2 + static_cast<std::uint32_t>(rng.below(3));
  simulation.unknown = rng.chance(0.5) ? 0.2 : 0.0;
  simulation.swaps = rng.below(8);
  simulation.next = [&](Rng& random, std::uint32_t, std::size_t) -> std::optional<Operation> {
    if (random.chance(0.5)) return ok(Call::read, kNothing);
    return ok(Call::increment, by_one ? kNothing : static_cast<std::int64_t>(random.below(4)) - 1);
  };
  return oracle::simulate(kCounter, simulation, rng);
}

TEST(Counter, RandomSimulatedAndPerturbedHistories) {
  Rng rng(51);
  Promise from_ten = kCounter;
  from_ten.initial = 10;
  for (std::uint64_t i = 0; i < oracle::random_cases() / 2; ++i) {
    History history = testing::random_history(menu_up_to(4), 3 + rng.below(6), rng.chance(0.3), rng);
    ASSERT_TRUE(agree(kCounter, history, decide_counter));
    if (i % 8 != 0) continue;
    for (Operation& each : history) {
      if (each.f == Call::read) each.result += 10;
    }
    ASSERT_TRUE(agree(from_ten, history, decide_counter));
  }
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    ASSERT_TRUE(agree(kCounter, simulated(rng, 4 + rng.below(9), rng.chance(0.9)), decide_counter));
  }
}

TEST(Counter, ShiftingSplittingAndWeakeningKeepTheAnswer) {
  Rng rng(52);
  const auto answer_of = [](const History& history) { return decide_counter(kCounter, history, {}).answer; };
  for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
    const History history = simulated(rng, 30, true);
    const Answer answer = answer_of(history);
    History other = {at(-10, -9, ok(Call::increment, 1), 90), at(-8, -7, ok(Call::read, kNothing, 1), 90)};
    for (Operation each : history) {
      each.call *= 5;
      if (each.ret != kNever) each.ret *= 5;
      if (each.f == Call::read && each.ok()) ++each.result;
      other.push_back(each);
    }
    ASSERT_EQ(answer_of(other), answer);
    if (answer != Answer::linearizable) continue;
    std::vector<std::uint32_t> strong;
    for (std::uint32_t k = 0; k < history.size(); ++k) {
      if (rng.chance(0.7)) strong.push_back(k);
    }
    ASSERT_EQ(answer_of(oracle::weakened(history, strong)), Answer::linearizable);
  }
}

TEST(Counter, ALostIncrement) {
  History history;
  for (Instant i = 0; i < 1000; ++i) {
    history.push_back(at(4 * i, 4 * i + 1, ok(Call::increment, kNothing)));
    history.push_back(at(4 * i + 2, 4 * i + 3, ok(Call::read, kNothing, i + 1 - (i == 999 ? 1 : 0))));
  }
  const Decision decision = decide_counter(kCounter, history, {});
  EXPECT_EQ(decision.rule, "count-too-low");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{1997, 1998, 1999}));
  history.back().result = 1000;
  EXPECT_EQ(decide_counter(kCounter, history, {}).answer, Answer::linearizable);
  history.back().result = 1001;
  EXPECT_EQ(decide_counter(kCounter, history, {}).core, (std::vector<std::uint32_t>{1999}));
}

TEST(Counter, RefusesWhatMakesNoSense) {
  EXPECT_THROW(decide_counter(kCounter, History{at(0, 1, ok(Call::write, 1))}, {}), std::invalid_argument);
  EXPECT_THROW(decide_counter(kCounter, History{at(0, 1, refused(Call::increment, 1))}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
