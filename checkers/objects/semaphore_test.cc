#include "checkers/objects/semaphore.h"

#include <gtest/gtest.h>

#include "checkers/objects/lock_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::lock_operation;

Promise semaphore(std::uint32_t permits, Identity identity = Identity::hold) {
  return {.kind = Kind::semaphore, .identity = identity, .permits = permits};
}

Operation acquire(std::int64_t permits = kNothing, Outcome outcome = Outcome::ok) {
  return lock_operation(Call::acquire, permits, outcome);
}
Operation release(std::int64_t permits = kNothing, Outcome outcome = Outcome::ok) {
  return lock_operation(Call::release, permits, outcome);
}

std::vector<Operation> unit_menu() {
  return {acquire(), acquire(kNothing, Outcome::unknown), release(), release(kNothing, Outcome::unknown)};
}
std::vector<Operation> weighted_menu() {
  std::vector<Operation> result = unit_menu();
  for (const std::int64_t permits : {2, 3}) {
    result.push_back(acquire(permits));
    result.push_back(acquire(permits, Outcome::unknown));
    result.push_back(release(permits));
    result.push_back(release(permits, Outcome::unknown));
  }
  return result;
}
std::vector<Operation> menu_with_refusals() {
  std::vector<Operation> result = unit_menu();
  result.push_back(acquire(2));
  result.push_back(release(2));
  result.push_back(release(kNothing, Outcome::refused));
  result.push_back(acquire(kNothing, Outcome::refused));
  return result;
}

TEST(Semaphore, AsManyAcquiresAsAreOneTooManyAreNamed) {
  const History history = {at(0, 1, acquire(), 1), at(2, 3, acquire(), 2), at(4, 5, acquire(), 3),
                           at(6, 7, release(), 1), at(8, 9, release(), 2), at(10, 11, release(), 3)};
  const Decision decision = decide_semaphore(semaphore(2), history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(decision.rule, "overlapping-holds");
  EXPECT_EQ(decide_semaphore(semaphore(3), history, {}).answer, Answer::linearizable);
}

TEST(Semaphore, PermitsGivenBackOneByOne) {
  const History history = {at(0, 1, acquire(2), 1), at(2, 3, release(), 1), at(4, 5, acquire(), 2),
                           at(6, 7, release(), 1), at(8, 9, release(), 2)};
  EXPECT_EQ(decide_semaphore(semaphore(2), history, {}).answer, Answer::linearizable);
  History both = history;
  both[1].call = 4;
  both[1].ret = 6;
  std::ranges::stable_sort(both, {}, &Operation::call);
  both[2].ret = 5;
  EXPECT_EQ(decide_semaphore(semaphore(2), both, {}).answer, Answer::linearizable) << "the release came first";
  both[1].call = 5;
  both[1].ret = 6;
  both[2].call = 4;
  both[2].ret = 4;
  std::swap(both[1], both[2]);
  std::ranges::stable_sort(both, {}, &Operation::call);
  EXPECT_EQ(decide_semaphore(semaphore(2), both, {}).answer, Answer::violation);
}

TEST(Semaphore, AllSmallHistories) {
  for (const std::uint32_t permits : {1U, 2U}) {
    EXPECT_GT(testing::try_every_history(semaphore(permits), unit_menu(), oracle::all_up_to(4), 3, decide_semaphore),
              1'000U);
    EXPECT_GT(
        testing::try_every_history(semaphore(permits), menu_with_refusals(), oracle::all_up_to(3), 3, decide_semaphore),
        1'000U);
    EXPECT_GT(
        testing::try_every_history(semaphore(permits), unit_menu(), oracle::all_up_to(4), 3, decide_semaphore, true),
        1'000U);
  }
  EXPECT_GT(testing::try_every_history(semaphore(2), weighted_menu(), oracle::all_up_to(3), 3, decide_semaphore),
            1'000U);
  EXPECT_GT(
      testing::try_every_history(semaphore(2, Identity::crash), unit_menu(), oracle::all_up_to(4), 3, decide_semaphore),
      1'000U);
}

// The two last releases alone could be met with the permits of the first acquire, were its release not true.
TEST(Semaphore, TheCoreKnowsWhatTheProcessGaveBackBefore) {
  const Promise promise = semaphore(2, Identity::crash);
  const auto permits = [](std::int64_t count, Operation operation) {
    operation.argument = count;
    return operation;
  };
  const Operation acquire = lock_operation(Call::acquire);
  const Operation release = lock_operation(Call::release);
  const History history = {at(0, 4, permits(2, acquire), 1), at(5, 7, permits(2, release), 1), at(8, 9, acquire, 1),
                           at(10, 11, release, 1), at(12, 13, release, 1)};
  const Decision decision = decide_semaphore(promise, history, {});
  EXPECT_EQ(decision.answer, Answer::violation);
  const auto wrong = oracle::disagreement(promise, history, decide_semaphore);
  EXPECT_FALSE(wrong) << *wrong;
  EXPECT_EQ(decide_semaphore(promise, History(history.begin(), history.end() - 1), {}).answer, Answer::linearizable);
}

TEST(Semaphore, RandomHistories) {
  EXPECT_GT(testing::try_random_histories(semaphore(2), unit_menu(), 10, 5, 1, decide_semaphore),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(semaphore(4), weighted_menu(), 9, 4, 2, decide_semaphore, 2),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(semaphore(1), menu_with_refusals(), 8, 4, 3, decide_semaphore, 4),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(semaphore(2, Identity::crash), weighted_menu(), 8, 4, 4, decide_semaphore, 4),
            oracle::random_cases() / 500);
}

TEST(Semaphore, SimulatedHistories) {
  for (const Identity identity : {Identity::hold, Identity::crash}) {
    oracle::Simulation simulation;
    simulation.processes = 4;
    simulation.operations = 10;
    simulation.next = [](Rng& rng, std::uint32_t process, std::size_t made) -> std::optional<Operation> {
      const auto hold = process * 100 + static_cast<std::uint32_t>(made / 2);
      Operation next = lock_operation(made % 2 == 0 ? Call::acquire : Call::release, 1 + hold % 3);
      if (rng.chance(0.02)) next.argument = 1;
      next.hold = hold;
      return next;
    };
    EXPECT_GT(testing::try_simulated_histories(semaphore(4, identity), simulation, 5, decide_semaphore, 2),
              oracle::random_cases() / 1000);
  }
}

TEST(Semaphore, NothingDependsOnHowAHistoryIsWrittenDown) {
  testing::try_changes(semaphore(2), weighted_menu(), 6, decide_semaphore);
}

TEST(Semaphore, SaysWhatItCannotRead) {
  EXPECT_THROW(decide_semaphore(semaphore(2), History{at(0, 1, acquire(0), 1)}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
