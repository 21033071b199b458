#include "checkers/objects/rw_lock.h"

#include <gtest/gtest.h>

#include <chrono>

#include "checkers/objects/lock_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::lock_operation;

constexpr Promise kHolds{.kind = Kind::rw_lock, .identity = Identity::hold};
constexpr Promise kCrash{.kind = Kind::rw_lock, .identity = Identity::crash};

Operation acquire(std::int64_t mode, Outcome outcome = Outcome::ok) {
  return lock_operation(Call::acquire, mode, outcome);
}
Operation release(Outcome outcome = Outcome::ok) {
  return lock_operation(Call::release, kNothing, outcome);
}

std::vector<Operation> menu() {
  return {acquire(kRead), acquire(kRead, Outcome::unknown), acquire(kWrite), acquire(kWrite, Outcome::unknown),
          release(),      release(Outcome::unknown)};
}
std::vector<Operation> menu_with_refusals() {
  std::vector<Operation> result = menu();
  result.push_back(release(Outcome::refused));
  result.push_back(acquire(kRead, Outcome::refused));
  result.push_back(acquire(kWrite, Outcome::refused));
  return result;
}

TEST(RwLock, AWriterAndAReaderThatCertainlyOverlapAreNamed) {
  const History history = {at(0, 1, acquire(kRead), 1), at(2, 3, acquire(kWrite), 2), at(4, 5, release(), 1),
                           at(6, 7, release(), 2)};
  const Decision decision = decide_rw_lock(kHolds, history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(decision.rule, "overlapping-holds");
  EXPECT_EQ(decision.from, 3);
  EXPECT_EQ(decision.to, 4);
  EXPECT_EQ(decision.because,
            "{0} and {1} cannot both be true: these holds certainly overlap, and one of them is a writer's");
}

TEST(RwLock, TwoReadersShareIt) {
  const History history = {at(0, 1, acquire(kRead), 1), at(2, 3, acquire(kRead), 2), at(4, 5, release(), 1),
                           at(6, 7, release(), 2)};
  EXPECT_EQ(decide_rw_lock(kHolds, history, {}).answer, Answer::linearizable);
}

TEST(RwLock, AllSmallHistories) {
  EXPECT_GT(testing::try_every_history(kHolds, menu_with_refusals(), oracle::all_up_to(3), 3, decide_rw_lock), 5'000U);
  EXPECT_GT(testing::try_every_history(kHolds, menu_with_refusals(), 3, 3, decide_rw_lock, true), 5'000U);
  EXPECT_GT(testing::try_every_history(kHolds, menu(), oracle::all_up_to(4), 3, decide_rw_lock), 20'000U);
  EXPECT_GT(testing::try_every_history(kCrash, menu_with_refusals(), oracle::all_up_to(3), 3, decide_rw_lock), 5'000U);
  EXPECT_GT(testing::try_every_history(kCrash, menu(), oracle::all_up_to(4), 3, decide_rw_lock), 20'000U);
}

TEST(RwLock, RandomHistories) {
  EXPECT_GT(testing::try_random_histories(kHolds, menu(), 9, 4, 1, decide_rw_lock), oracle::random_cases() / 200);
  EXPECT_GT(testing::try_random_histories(kHolds, menu_with_refusals(), 8, 4, 2, decide_rw_lock, 4),
            oracle::random_cases() / 400);
  EXPECT_GT(testing::try_random_histories(kCrash, menu(), 9, 4, 3, decide_rw_lock, 4), oracle::random_cases() / 400);
}

TEST(RwLock, SimulatedHistories) {
  for (const Promise& promise : {kHolds, kCrash}) {
    oracle::Simulation simulation;
    simulation.processes = 4;
    simulation.operations = 10;
    simulation.next = [](Rng& rng, std::uint32_t process, std::size_t made) -> std::optional<Operation> {
      Operation next = made % 2 == 0 ? acquire(rng.chance(0.5) ? kRead : kWrite) : release();
      next.hold = process * 100 + static_cast<std::uint32_t>(made / 2);
      return next;
    };
    EXPECT_GT(testing::try_simulated_histories(promise, simulation, 4, decide_rw_lock, 2),
              oracle::random_cases() / 1000);
  }
}

TEST(RwLock, NothingDependsOnHowAHistoryIsWrittenDown) {
  testing::try_changes(kHolds, menu(), 5, decide_rw_lock);
  testing::try_changes(kCrash, menu(), 6, decide_rw_lock);
}

TEST(RwLock, SaysWhatItCannotRead) {
  const History history = {at(0, 1, lock_operation(Call::write, 1), 1)};
  EXPECT_THROW(decide_rw_lock(kHolds, history, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
