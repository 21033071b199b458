#include "checkers/objects/set.h"

#include "checkers/objects/data_cases.h"

namespace holdfast::objects {
namespace {

using testing::agree;
using testing::at;
using testing::History;
using testing::ok;
using testing::refused;
using testing::try_every_history;
using testing::unknown;

// Subsets of {1, 2, 3}, as bits; the last one has 1 twice.
const Promise kSet{.kind = Kind::set, .sets = {{}, {1}, {2}, {1, 2}, {3}, {3, 1}, {2, 3}, {3, 2, 1}, {1, 1}}};

std::vector<Operation> element_menu(std::int64_t elements) {
  std::vector<Operation> menu;
  for (std::int64_t element = 1; element <= elements; ++element) {
    for (const Call f : {Call::add, Call::remove}) {
      menu.push_back(ok(f, element));
      menu.push_back(unknown(f, element));
    }
    menu.push_back(refused(Call::remove, element));
    menu.push_back(ok(Call::contains, element, 0));
    menu.push_back(ok(Call::contains, element, 1));
  }
  return menu;
}

std::vector<Operation> growing_menu(std::int64_t elements) {
  std::vector<Operation> menu;
  for (std::int64_t element = 1; element <= elements; ++element) {
    menu.push_back(ok(Call::add, element));
    menu.push_back(unknown(Call::add, element));
  }
  for (std::int64_t set = 0; set < 1 << elements; ++set) menu.push_back(ok(Call::read, kNothing, set));
  if (elements == 3) menu.push_back(ok(Call::read, kNothing, 8));
  return menu;
}

bool anything(const History& /*history*/) {
  return true;
}

TEST(Set, AllHistoriesOfOneElement) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    EXPECT_GT(try_every_history(kSet, element_menu(1), count, anything, decide_set), 0U);
  }
  // Five: added once, and nothing that looks the same as something else.
  const auto suits = [](const History& history) {
    return std::ranges::count_if(history, [](const Operation& each) { return each.f == Call::add; }) <= 1 &&
           std::ranges::none_of(history, [](const Operation& each) { return each.refused(); });
  };
  EXPECT_GT(try_every_history(kSet, element_menu(1), 5, suits, decide_set), 0U);
}

TEST(Set, AllHistoriesOfAGrowingSet) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    EXPECT_GT(try_every_history(kSet, growing_menu(2), count, anything, decide_set), 0U);
  }
  EXPECT_GT(try_every_history(kSet, growing_menu(1), 5, anything, decide_set), 0U);
  // Two elements: 1, then 2, each added once, which leaves three reads.
  const auto suits = [](const History& history) {
    std::vector<std::int64_t> added;
    for (const Operation& each : history) {
      if (each.f == Call::add) added.push_back(each.argument);
    }
    return added == (history.size() == 5 || added.size() == 2 ? std::vector<std::int64_t>{1, 2}
                                                              : std::vector<std::int64_t>(added.size(), 1));
  };
  EXPECT_GT(try_every_history(kSet, growing_menu(2), 5, suits, decide_set), 0U);
}

TEST(Set, RandomHistories) {
  Rng rng(61);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 2; ++i) {
    std::vector<Operation> menu = rng.chance(0.5) ? element_menu(1 + static_cast<std::int64_t>(rng.below(3)))
                                                  : growing_menu(1 + static_cast<std::int64_t>(rng.below(3)));
    if (rng.chance(0.1)) menu.push_back(ok(Call::remove, 1));
    ASSERT_TRUE(agree(kSet, testing::random_history(menu, 3 + rng.below(5), rng.chance(0.3), rng), decide_set));
  }
}

// Elements that are added once, elements that come and go, or the whole set read.
enum class Mode : std::uint8_t { fresh, reused, growing };

History simulated(Rng& rng, Mode mode, std::size_t operations) {
  const bool fresh = mode == Mode::fresh;
  const double removes = rng.chance(0.2) ? 0.2 : 0.0;
  std::int64_t added = 0;
  oracle::Simulation simulation;
  simulation.operations = operations;
  simulation.processes = 2 + static_cast<std::uint32_t>(rng.below(3));
  simulation.unknown = rng.chance(0.5) ? 0.2 : 0.0;
  simulation.refusals = true;
  simulation.swaps = rng.below(8);
  simulation.next = [&](Rng& random, std::uint32_t, std::size_t) -> std::optional<Operation> {
    const auto any = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(fresh ? added + 1 : 2)));
    if (mode == Mode::growing) {
      if (random.chance(0.5)) return ok(Call::read, kNothing);
      const auto element = 1 + static_cast<std::int64_t>(random.below(3));
      return ok(random.chance(removes) ? Call::remove : Call::add, element);
    }
    switch (random.below(4)) {
      case 0:
        return ok(Call::add, fresh ? ++added : any);
      case 1:
        return ok(Call::remove, any);
      default:
        return ok(Call::contains, any);
    }
  };
  return oracle::simulate(kSet, simulation, rng);
}

TEST(Set, SimulatedAndPerturbedHistories) {
  Rng rng(62);
  for (std::uint64_t i = 0; i < oracle::random_cases(); ++i) {
    ASSERT_TRUE(agree(kSet, simulated(rng, static_cast<Mode>(rng.below(3)), 4 + rng.below(9)), decide_set));
  }
}

TEST(Set, RenamingShiftingAndWeakeningKeepTheAnswer) {
  Rng rng(63);
  const auto answer_of = [](const History& history) { return decide_set(kSet, history, {}).answer; };
  for (std::uint64_t i = 0; i < oracle::random_cases() / 20; ++i) {
    const History history = simulated(rng, Mode::fresh, 30);
    const Answer answer = answer_of(history);
    History other = history;
    for (Operation& each : other) {
      each.call = each.call * 3 - 1000;
      if (each.ret != kNever) each.ret = each.ret * 3 - 1000;
      each.argument = each.argument * 7'000'000'000 - 3;
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

TEST(Set, AnElementThatIsMissedWhileInside) {
  History history = {at(0, 1, ok(Call::add, 7)), at(2, 3, ok(Call::contains, 7, 0)),
                     at(4, 5, ok(Call::contains, 7, 1))};
  const Decision decision = decide_set(kSet, history, {});
  EXPECT_EQ(decision.rule, "missed-while-inside");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1}));
  history[1].result = 1;
  EXPECT_EQ(decide_set(kSet, history, {}).answer, Answer::linearizable);
}

TEST(Set, AnElementThatAGrowingSetLost) {
  History history = {at(0, 1, ok(Call::add, 1)), at(2, 3, ok(Call::add, 2)), at(4, 5, ok(Call::read, kNothing, 2)),
                     at(6, 7, ok(Call::read, kNothing, 3))};
  const Decision decision = decide_set(kSet, history, {});
  EXPECT_EQ(decision.rule, "lost-element");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2}));
  history[2].result = 3;
  EXPECT_EQ(decide_set(kSet, history, {}).answer, Answer::linearizable);
}

TEST(Set, OnlyAnElementThatComesAndGoesIsSearched) {
  History history;
  for (Instant i = 0; i < 3000; i += 3) {
    history.push_back(at(6 * i, 6 * i + 2, ok(Call::add, i), 0));
    history.push_back(at(6 * i + 1, 6 * i + 4, ok(Call::contains, i, 1), 1));
    history.push_back(at(6 * i + 5, 6 * i + 7, ok(Call::remove, i), 0));
  }
  EXPECT_EQ(decide_set(kSet, history, {}).answer, Answer::linearizable);
  EXPECT_EQ(decide_set(kSet, history, {}).searched, 0U);
  for (const std::size_t i : {2997U, 2998U, 2999U}) history[i].argument = 0;  // the first element comes again
  const Decision decision = decide_set(kSet, history, {});
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_EQ(decision.searched, 6U);
  history[2] = at(18000, 18001, ok(Call::contains, 0, 1), 0);  // not removed in between, and still there in the end
  std::ranges::stable_sort(history, {}, &Operation::call);
  EXPECT_EQ(decide_set(kSet, history, {}).answer, Answer::violation);
}

TEST(Set, RefusesWhatMakesNoSense) {
  EXPECT_THROW(decide_set(kSet, History{at(0, 1, ok(Call::write, 1))}, {}), std::invalid_argument);
  EXPECT_THROW(decide_set(kSet, History{at(0, 1, refused(Call::add, 1))}, {}), std::invalid_argument);
  EXPECT_THROW(decide_set(kSet, History{at(0, 1, ok(Call::read, kNothing, 99))}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
