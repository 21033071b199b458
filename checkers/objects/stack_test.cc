#include "checkers/objects/stack.h"

#include "checkers/objects/items_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::items_menu;
using testing::ok;
using testing::try_every_history;

const Promise kStack{.kind = Kind::stack};

TEST(Stack, AllHistoriesOfUniqueValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U}) {
    const auto suits = [&](const History& history) {
      if (!testing::each_inserted_once(history)) return false;
      return history.size() < 5 || testing::nothing_from_nowhere(history);
    };
    const auto menu = items_menu(count == 5 ? 3 : 4, count < 5);
    EXPECT_GT(try_every_history(kStack, menu, count, suits, decide_stack), 0U);
  }
}

TEST(Stack, AllHistoriesOfRepeatedValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    const auto anything = [](const History&) { return true; };
    EXPECT_GT(try_every_history(kStack, items_menu(count == 4 ? 1 : 2, true), count, anything, decide_stack), 0U);
  }
}

TEST(Stack, RandomSimulatedAndPerturbedHistories) {
  testing::try_random_items(kStack, decide_stack, 31);
}

// Many values at once: the deeper the components, the more often they are taken apart.
TEST(Stack, DeepSimulatedHistories) {
  Rng rng(33);
  for (std::uint64_t i = 0; i < oracle::random_cases() / 100; ++i) {
    const History history = testing::simulated_items(kStack, rng, true, 13, false);
    ASSERT_TRUE(testing::agree(kStack, history, decide_stack));
  }
}

TEST(Stack, RenamingShiftingSplittingWeakeningAndTurningTimeKeepTheAnswer) {
  testing::keep_the_answer(kStack, decide_stack, false, true, 32);
}

TEST(Stack, FirstInFirstOutIsNoStack) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::insert, 2)),
                     at(4, 5, ok(Call::extract, kNothing, 1)), at(6, 7, ok(Call::extract, kNothing, 2))};
  const Decision decision = decide_stack(kStack, history, {});
  EXPECT_EQ(decision.rule, "stack-order");
  EXPECT_LE(decision.core.size(), 4U);
  EXPECT_GE(decision.core.size(), 2U);
  std::swap(history[2].result, history[3].result);
  EXPECT_EQ(decide_stack(kStack, history, {}).answer, Answer::linearizable);
}

TEST(Stack, PopThatFoundNothingWhileSomethingWasInside) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::extract, kNothing, kNothing)),
                     at(4, 5, ok(Call::extract, kNothing, 1))};
  const Decision decision = decide_stack(kStack, history, {});
  EXPECT_EQ(decision.rule, "empty-while-inside");
  std::swap(history[1].result, history[2].result);
  EXPECT_EQ(decide_stack(kStack, history, {}).answer, Answer::linearizable);
}

}  // namespace
}  // namespace holdfast::objects
