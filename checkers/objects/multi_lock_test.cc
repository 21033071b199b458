#include "checkers/objects/multi_lock.h"

#include <gtest/gtest.h>

#include "checkers/objects/lock_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::lock_operation;

// Set 0 and set 1 share a lock, set 2 and set 1 another, set 3 has all, set 4 one of its own.
Promise multi_lock(Identity identity = Identity::hold) {
  return {.kind = Kind::multi_lock, .identity = identity, .sets = {{10}, {10, 20, 10}, {20}, {10, 20, -30}, {-30}}};
}

Operation acquire(std::int64_t set, Outcome outcome = Outcome::ok) {
  return lock_operation(Call::acquire, set, outcome);
}
Operation release(Outcome outcome = Outcome::ok) {
  return lock_operation(Call::release, kNothing, outcome);
}

std::vector<Operation> menu(std::int64_t sets) {
  std::vector<Operation> result = {release(), release(Outcome::unknown)};
  for (std::int64_t set = 0; set < sets; ++set) {
    result.push_back(acquire(set));
    result.push_back(acquire(set, Outcome::unknown));
  }
  return result;
}
std::vector<Operation> menu_with_refusals() {
  std::vector<Operation> result = menu(2);
  result.push_back(release(Outcome::refused));
  result.push_back(acquire(0, Outcome::refused));
  return result;
}

TEST(MultiLock, TwoHoldsThatShareALockAreNamed) {
  const History history = {at(0, 1, acquire(0), 1), at(2, 3, acquire(2), 2), at(4, 5, acquire(1), 3),
                           at(6, 7, release(), 1),  at(8, 9, release(), 2),  at(10, 11, release(), 3)};
  const Decision decision = decide_multi_lock(multi_lock(), history, {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(decision.because, "{0} and {1} cannot both be true: these holds certainly overlap, and they share a lock");
}

TEST(MultiLock, HoldsWithoutACommonLockGoTogether) {
  const History history = {at(0, 1, acquire(1), 1), at(2, 3, acquire(4), 2), at(4, 5, release(), 1),
                           at(6, 7, release(), 2)};
  EXPECT_EQ(decide_multi_lock(multi_lock(), history, {}).answer, Answer::linearizable);
}

TEST(MultiLock, AllSmallHistories) {
  EXPECT_GT(testing::try_every_history(multi_lock(), menu(3), oracle::all_up_to(4), 3, decide_multi_lock), 10'000U);
  EXPECT_GT(testing::try_every_history(multi_lock(), menu_with_refusals(), oracle::all_up_to(3), 3, decide_multi_lock),
            1'000U);
  EXPECT_GT(testing::try_every_history(multi_lock(), menu_with_refusals(), 3, 3, decide_multi_lock, true), 1'000U);
  EXPECT_GT(
      testing::try_every_history(multi_lock(Identity::crash), menu(2), oracle::all_up_to(4), 3, decide_multi_lock),
      10'000U);
}

TEST(MultiLock, RandomHistories) {
  EXPECT_GT(testing::try_random_histories(multi_lock(), menu(5), 9, 4, 1, decide_multi_lock),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(multi_lock(), menu_with_refusals(), 8, 4, 2, decide_multi_lock, 4),
            oracle::random_cases() / 500);
  EXPECT_GT(testing::try_random_histories(multi_lock(Identity::crash), menu(4), 8, 4, 3, decide_multi_lock, 4),
            oracle::random_cases() / 500);
}

TEST(MultiLock, SimulatedHistories) {
  for (const Identity identity : {Identity::hold, Identity::crash}) {
    oracle::Simulation simulation;
    simulation.processes = 4;
    simulation.operations = 10;
    simulation.next = [](Rng& rng, std::uint32_t process, std::size_t made) -> std::optional<Operation> {
      Operation next = made % 2 == 0 ? acquire(static_cast<std::int64_t>(rng.below(5))) : release();
      next.hold = process * 100 + static_cast<std::uint32_t>(made / 2);
      return next;
    };
    EXPECT_GT(testing::try_simulated_histories(multi_lock(identity), simulation, 4, decide_multi_lock, 2),
              oracle::random_cases() / 1000);
  }
}

TEST(MultiLock, NothingDependsOnHowAHistoryIsWrittenDown) {
  testing::try_changes(multi_lock(), menu(4), 5, decide_multi_lock);
}

TEST(MultiLock, SaysWhatItCannotRead) {
  EXPECT_THROW(decide_multi_lock(multi_lock(), History{at(0, 1, acquire(9), 1)}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::objects
