#include "checkers/objects/fenced_mutex.h"

#include <gtest/gtest.h>

#include "checkers/objects/lock_cases.h"

namespace holdfast::objects {
namespace {

using testing::at;
using testing::History;
using testing::lock_operation;

Promise fenced(Identity identity, FenceRule fence, std::uint32_t reentrancy = 1) {
  return {.kind = Kind::fenced_mutex, .identity = identity, .reentrancy = reentrancy, .fence = fence};
}
const Promise kHolds = fenced(Identity::hold, FenceRule::increasing);
const Promise kByOne = fenced(Identity::hold, FenceRule::by_one);

Operation acquire(std::int64_t token) {
  return lock_operation(Call::acquire, kNothing, Outcome::ok, token);
}
Operation acquire_unknown() {
  return lock_operation(Call::acquire, kNothing, Outcome::unknown);
}
Operation release(Outcome outcome = Outcome::ok) {
  return lock_operation(Call::release, kNothing, outcome);
}

std::vector<Operation> menu(std::int64_t tokens) {
  std::vector<Operation> result = {acquire_unknown(), release(), release(Outcome::unknown)};
  for (std::int64_t token = 1; token <= tokens; ++token) result.push_back(acquire(token));
  return result;
}
std::vector<Operation> menu_with_refusals() {
  std::vector<Operation> result = menu(3);
  result.push_back(release(Outcome::refused));
  result.push_back(lock_operation(Call::acquire, kNothing, Outcome::refused));
  return result;
}

History two_grants(std::int64_t first, std::int64_t second) {
  return {at(0, 1, acquire(first), 1), at(2, 3, release(), 1), at(4, 5, acquire(second), 2), at(6, 7, release(), 2)};
}

TEST(FencedMutex, TheLaterOfTwoGrantsNeedsTheGreaterToken) {
  const Decision decision = decide_fenced_mutex(kHolds, two_grants(5, 5), {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(decision.rule, "token-not-growing");
  EXPECT_EQ(decide_fenced_mutex(kHolds, two_grants(5, 6), {}).answer, Answer::linearizable);
}

TEST(FencedMutex, ByOneNoTokenIsLeftOut) {
  const Decision decision = decide_fenced_mutex(kByOne, two_grants(1, 3), {});
  ASSERT_EQ(decision.answer, Answer::violation);
  EXPECT_EQ(decision.core, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(decide_fenced_mutex(kByOne, two_grants(1, 2), {}).answer, Answer::linearizable);
}

TEST(FencedMutex, AllSmallHistories) {
  for (const FenceRule fence : {FenceRule::increasing, FenceRule::by_one}) {
    for (const Identity identity : {Identity::hold, Identity::crash}) {
      const Promise promise = fenced(identity, fence);
      EXPECT_GT(testing::try_every_history(promise, menu(3), oracle::all_up_to(4), 3, decide_fenced_mutex), 5'000U);
      EXPECT_GT(testing::try_every_history(promise, menu_with_refusals(), oracle::all_up_to(3), 3, decide_fenced_mutex),
                1'000U);
    }
    const Promise apart = fenced(Identity::hold, fence);
    EXPECT_GT(testing::try_every_history(apart, menu_with_refusals(), 3, 3, decide_fenced_mutex, true), 1'000U);
    const Promise reentrant = fenced(Identity::crash, fence, 2);
    EXPECT_GT(testing::try_every_history(reentrant, menu(2), oracle::all_up_to(4), 2, decide_fenced_mutex), 5'000U);
  }
}

TEST(FencedMutex, RandomHistories) {
  for (const FenceRule fence : {FenceRule::increasing, FenceRule::by_one}) {
    EXPECT_GT(testing::try_random_histories(fenced(Identity::hold, fence), menu(5), 9, 5, 1, decide_fenced_mutex),
              oracle::random_cases() / 500);
    EXPECT_GT(testing::try_random_histories(fenced(Identity::crash, fence), menu(4), 8, 4, 2, decide_fenced_mutex, 4),
              oracle::random_cases() / 500);
    EXPECT_GT(
        testing::try_random_histories(fenced(Identity::crash, fence, 2), menu(3), 8, 3, 3, decide_fenced_mutex, 10),
        oracle::random_cases() / 500);
  }
}

TEST(FencedMutex, SimulatedHistories) {
  for (const FenceRule fence : {FenceRule::increasing, FenceRule::by_one}) {
    for (const auto& [identity, reentrancy] :
         {std::pair(Identity::hold, 1U), {Identity::crash, 1U}, {Identity::crash, 2U}}) {
      oracle::Simulation simulation;
      simulation.processes = 4;
      simulation.operations = 10;
      simulation.unknown = 0.2;
      simulation.next = [nested = reentrancy > 1](Rng& rng, std::uint32_t process,
                                                  std::size_t made) -> std::optional<Operation> {
        const bool releases = nested ? rng.chance(0.5) : made % 2 == 1;
        Operation next = lock_operation(releases ? Call::release : Call::acquire);
        next.hold = process * 100 + static_cast<std::uint32_t>(made / 2);
        return next;
      };
      EXPECT_GT(
          testing::try_simulated_histories(fenced(identity, fence, reentrancy), simulation, 4, decide_fenced_mutex, 6),
          oracle::random_cases() / 2000);
    }
  }
}

TEST(FencedMutex, NothingDependsOnHowAHistoryIsWrittenDown) {
  testing::try_changes(kHolds, menu(4), 5, decide_fenced_mutex);
  testing::try_changes(kByOne, menu(4), 6, decide_fenced_mutex);
}

}  // namespace
}  // namespace holdfast::objects
