#include "checkers/objects/queue.h"

#include "checkers/objects/items_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::items_menu;
using testing::ok;
using testing::refused;
using testing::try_every_history;
using testing::unknown;

const Promise kQueue{.kind = Kind::queue};

TEST(Queue, AllHistoriesOfUniqueValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 5U}) {
    const auto suits = [&](const History& history) {
      if (!testing::each_inserted_once(history)) return false;
      return history.size() < 5 || testing::nothing_from_nowhere(history);
    };
    const auto menu = items_menu(count == 5 ? 3 : 4, count < 5);
    EXPECT_GT(try_every_history(kQueue, menu, count, suits, decide_queue), 0U);
  }
}

TEST(Queue, AllHistoriesOfRepeatedValues) {
  for (const std::size_t count : {1U, 2U, 3U, 4U}) {
    const auto anything = [](const History&) { return true; };
    EXPECT_GT(try_every_history(kQueue, items_menu(count == 4 ? 1 : 2, true), count, anything, decide_queue), 0U);
  }
}

TEST(Queue, RandomSimulatedAndPerturbedHistories) {
  testing::try_random_items(kQueue, decide_queue, 21);
}

TEST(Queue, RenamingShiftingSplittingWeakeningAndTurningTimeKeepTheAnswer) {
  testing::keep_the_answer(kQueue, decide_queue, false, true, 22);
}

TEST(Queue, WrongOrderNeedsTwoObligations) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::insert, 2)),
                     at(4, 5, ok(Call::extract, kNothing, 2)), at(6, 7, ok(Call::extract, kNothing, 1))};
  const Decision decision = decide_queue(kQueue, history, {});
  EXPECT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "queue-order");
  // The extract of 1 was not called before that of 2 had returned: not even an unknown one could have helped.
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(decision.because, "{0} and {1} cannot all be true: 1 was put in before 2 but came out after it");
  std::swap(history[2].result, history[3].result);
  EXPECT_EQ(decide_queue(kQueue, history, {}).answer, Answer::linearizable);
}

TEST(Queue, EmptyWhileSomethingIsInside) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::insert, 2)),
                     at(4, 9, ok(Call::extract, kNothing, kNothing)), at(5, 6, ok(Call::extract, kNothing, 1)),
                     at(10, 11, ok(Call::extract, kNothing, 2))};
  const Decision decision = decide_queue(kQueue, history, {});
  EXPECT_EQ(decision.rule, "empty-while-inside");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{1, 2, 4}));
  history[4] = at(7, 8, ok(Call::extract, kNothing, 2));
  EXPECT_EQ(decide_queue(kQueue, history, {}).answer, Answer::linearizable);
}

TEST(Queue, AnUnknownExtractMayHaveTakenWhatIsLost) {
  History history = {at(0, 1, ok(Call::insert, 1)), at(2, 3, ok(Call::insert, 2)),
                     at(4, 0, unknown(Call::extract, kNothing)), at(5, 6, ok(Call::extract, kNothing, 2))};
  EXPECT_EQ(decide_queue(kQueue, history, {}).answer, Answer::linearizable);
  history.erase(history.begin() + 2);
  EXPECT_EQ(decide_queue(kQueue, history, {}).answer, Answer::violation);
}

TEST(Queue, OnlyThePieceOfARepeatedValueIsSearched) {
  History history;
  for (Instant i = 0; i < 1000; ++i) {
    const std::int64_t value = i == 500 || i == 700 ? 7 : i + 1000;
    history.push_back(at(10 * i, 10 * i + 2, ok(Call::insert, value), 0));
    history.push_back(at(10 * i + 1, 10 * i + 4, ok(Call::extract, kNothing, value), 1));
  }
  const Decision decision = decide_queue(kQueue, history, {});
  EXPECT_EQ(decision.answer, Answer::linearizable);
  EXPECT_EQ(decision.searched, 0U);  // in each piece it is unique
  history[1001] = at(5001, 5004, ok(Call::extract, kNothing, 8), 1);
  EXPECT_EQ(decide_queue(kQueue, history, {}).answer, Answer::violation);
}

TEST(Queue, RefusesWhatMakesNoSense) {
  EXPECT_THROW(decide_queue(kQueue, History{at(0, 1, ok(Call::write, 1))}, {}), std::invalid_argument);
  EXPECT_THROW(decide_queue(kQueue, History{at(0, 1, refused(Call::insert, 1))}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
