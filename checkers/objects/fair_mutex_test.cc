#include "checkers/objects/fair_mutex.h"

#include <gtest/gtest.h>

#include "checkers/objects/lock_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::lock_operation;

constexpr Promise kHolds{.kind = Kind::fair_mutex, .identity = Identity::hold};
constexpr Promise kCrash{.kind = Kind::fair_mutex, .identity = Identity::crash};

std::vector<Operation> menu() {
  std::vector<Operation> result;
  for (const Call f : {Call::ticket, Call::acquire, Call::release}) {
    for (const Outcome outcome : {Outcome::ok, Outcome::unknown}) {
      result.push_back(lock_operation(f, kNothing, outcome));
    }
  }
  return result;
}
std::vector<Operation> menu_with_refusals() {
  std::vector<Operation> result = menu();
  result.push_back(lock_operation(Call::release, kNothing, Outcome::refused));
  result.push_back(lock_operation(Call::acquire, kNothing, Outcome::refused));
  return result;
}

Operation ticket() {
  return lock_operation(Call::ticket);
}
Operation acquire(Outcome outcome = Outcome::ok) {
  return lock_operation(Call::acquire, kNothing, outcome);
}
Operation release() {
  return lock_operation(Call::release);
}

TEST(FairMutex, AGrantOutOfTurnIsNamed) {
  const History history = {at(0, 1, ticket(), 1),  at(2, 3, ticket(), 2),  at(4, 5, acquire(), 2),
                           at(6, 7, release(), 2), at(8, 9, acquire(), 1), at(10, 11, release(), 1)};
  const Decision decision = decide_fair_mutex(kHolds, history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.rule, "out-of-turn");
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2})) << "the ticket passed over, and the grant";
  EXPECT_FALSE(oracle::disagreement(kHolds, history, decide_fair_mutex));
}

TEST(FairMutex, GrantsInTheOrderOfTicketsAreFine) {
  const History history = {at(0, 2, ticket(), 1),  at(1, 3, ticket(), 2),  at(4, 5, acquire(), 2),
                           at(6, 7, release(), 2), at(8, 9, acquire(), 1), at(10, 11, release(), 1)};
  EXPECT_EQ(decide_fair_mutex(kHolds, history, {}).answer, Answer::linearizable) << "concurrent tickets";
}

TEST(FairMutex, WhoLeftTheQueueIsNotInTheWay) {
  const History history = {at(0, 1, ticket(), 1), at(2, 3, ticket(), 2), at(4, 5, acquire(Outcome::refused), 1),
                           at(6, 7, acquire(), 2), at(8, 9, release(), 2)};
  EXPECT_EQ(decide_fair_mutex(kHolds, history, {}).answer, Answer::linearizable);
  History late = history;
  late[2].call = 8;
  late[2].ret = 10;
  std::ranges::stable_sort(late, {}, &Operation::call);
  EXPECT_EQ(decide_fair_mutex(kHolds, late, {}).answer, Answer::violation);
}

TEST(FairMutex, AllSmallHistories) {
  EXPECT_GT(testing::try_every_history(kHolds, menu(), oracle::all_up_to(4), 2, decide_fair_mutex), 5'000U);
  EXPECT_GT(testing::try_every_history(kHolds, menu_with_refusals(), 3, 2, decide_fair_mutex, true), 1'000U);
  EXPECT_GT(testing::try_every_history(kCrash, menu_with_refusals(), oracle::all_up_to(4), 2, decide_fair_mutex),
            5'000U);
}

TEST(FairMutex, RandomHistories) {
  EXPECT_GT(testing::try_random_histories(kHolds, menu(), 9, 3, 1, decide_fair_mutex, 2), oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(kHolds, menu_with_refusals(), 9, 3, 2, decide_fair_mutex, 2),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(kCrash, menu(), 9, 3, 3, decide_fair_mutex, 4), oracle::random_cases() / 500);
}

oracle::Simulation simulation(bool leaving) {
  oracle::Simulation result;
  result.processes = 4;
  result.operations = 12;
  result.refusals = leaving;
  result.next = [](Rng&, std::uint32_t process, std::size_t made) -> std::optional<Operation> {
    constexpr std::array kSteps = {Call::ticket, Call::acquire, Call::release};
    Operation next = lock_operation(kSteps[made % 3]);
    next.hold = process * 100 + static_cast<std::uint32_t>(made / 3);
    return next;
  };
  return result;
}

TEST(FairMutex, SimulatedHistories) {
  for (const Promise& promise : {kHolds, kCrash}) {
    EXPECT_GT(testing::try_simulated_histories(promise, simulation(false), 4, decide_fair_mutex, 2), 100U);
    EXPECT_GT(testing::try_simulated_histories(promise, simulation(true), 5, decide_fair_mutex, 4), 10U);
  }
}

TEST(FairMutex, NothingDependsOnHowAHistoryIsWrittenDown) {
  testing::try_changes(kHolds, menu(), 5, decide_fair_mutex);
}

TEST(FairMutex, SaysWhatItCannotRead) {
  EXPECT_THROW(decide_fair_mutex(kHolds, History{at(0, 1, lock_operation(Call::renew), 1)}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
