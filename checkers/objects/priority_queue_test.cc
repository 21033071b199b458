#include "checkers/objects/priority_queue.h"

#include "checkers/objects/items_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::items_menu;
using testing::ok;
using testing::try_every_history;

const Promise kHeap{.kind = Kind::priority_queue};

TEST(PriorityQueue, AllHistoriesOfUniqueValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    EXPECT_GT(
        try_every_history(kHeap, items_menu(3, true), count, testing::inserted_at_most_once, decide_priority_queue),
        0U);
  }
  const auto suits = [&](const History& history) {
    if (!testing::inserted_at_most_once(history)) return false;
    return history.size() < 5 || testing::nothing_from_nowhere(history);
  };
  EXPECT_GT(try_every_history(kHeap, items_menu(2, false), 5, suits, decide_priority_queue), 0U);
}

TEST(PriorityQueue, AllHistoriesOfRepeatedValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    const auto anything = [](const History&) { return true; };
    EXPECT_GT(try_every_history(kHeap, items_menu(count == 4 ? 1 : 2, true), count, anything, decide_priority_queue),
              0U);
  }
}

TEST(PriorityQueue, RandomSimulatedAndPerturbedHistories) {
  testing::try_random_items(kHeap, decide_priority_queue, 41);
}

TEST(PriorityQueue, ShiftingSplittingAndWeakeningKeepTheAnswer) {
  testing::keep_the_answer(kHeap, decide_priority_queue, true, false, 42);
}

TEST(PriorityQueue, GreaterValueBeforeTheLeast) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::insert, 2)),
                     at(4, 5, ok(Call::extract, kNothing, 2)), at(6, 7, ok(Call::extract, kNothing, 1))};
  const Decision decision = decide_priority_queue(kHeap, history, {});
  EXPECT_EQ(decision.rule, "priority-order");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2}));
  std::swap(history[2].result, history[3].result);
  EXPECT_EQ(decide_priority_queue(kHeap, history, {}).answer, Answer::linearizable);
}

TEST(PriorityQueue, EmptyWhileSomethingIsInside) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::extract, kNothing, kNothing)),
                     at(4, 5, ok(Call::extract, kNothing, 1))};
  EXPECT_EQ(decide_priority_queue(kHeap, history, {}).rule, "empty-while-inside");
  std::swap(history[1].result, history[2].result);
  EXPECT_EQ(decide_priority_queue(kHeap, history, {}).answer, Answer::linearizable);
}

}  // namespace
}  // namespace holdfast::objects
