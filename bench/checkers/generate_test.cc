#include "bench/checkers/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <stdexcept>

#include "checkers/objects/decision.h"
#include "checkers/oracle/oracle.h"

namespace holdfast::bench {
namespace {

using objects::Answer;
using objects::kNever;
using objects::Operation;

constexpr std::array kAll = {Family::register_, Family::register_few, Family::cas_register, Family::cas_refused,
                             Family::kv,        Family::mutex,        Family::reentrant,    Family::lease,
                             Family::rw,        Family::semaphore,    Family::queue,        Family::reuse};

bool can_be_planted(Family family) {
  return family != Family::reuse;
}

std::vector<oracle::History> by_key(const Generated& generated) {
  std::vector<oracle::History> keys;
  for (const Operation& each : generated.operations) {
    if (each.key >= keys.size()) keys.resize(each.key + 1);
    keys[each.key].push_back(each);
  }
  return keys;
}

// The verdict alone: certificates are the deciders' own tests' business.
Answer decided(const Generated& generated) {
  objects::Limits limits;
  limits.witness = limits.minimal_core = false;
  for (const oracle::History& key : by_key(generated)) {
    const Answer answer = objects::decide(generated.promise, key, limits).answer;
    if (answer != Answer::linearizable) return answer;
  }
  return Answer::linearizable;
}

// Nothing when the history is too long to try every order.
std::optional<bool> possible(const Generated& generated) {
  constexpr std::size_t kMost = 20;
  bool all = true;
  for (const oracle::History& key : by_key(generated)) {
    if (key.size() > kMost) return std::nullopt;
    all = all && oracle::possible(generated.promise, key);
  }
  return all;
}

std::string print(const Generated& generated) {
  return oracle::print(generated.promise, generated.operations);
}

class Generator : public testing::TestWithParam<Family> {};

TEST_P(Generator, MakesWhatTheRecipeSays) {
  const Recipe recipe{.family = GetParam(), .operations = 20'000, .clients = 10, .unknown = 0.05, .seed = 7};
  const Generated generated = generate(recipe);
  const std::vector<Operation>& operations = generated.operations;
  EXPECT_NEAR(static_cast<double>(operations.size()), 20'000, 200);
  EXPECT_NEAR(static_cast<double>(generated.unknown), 1000, 250);
  EXPECT_EQ(generated.unknown, static_cast<std::size_t>(std::ranges::count_if(
                                   operations, [](const Operation& each) { return each.unknown(); })));
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& each = operations[i];
    ASSERT_EQ(each.unknown(), each.ret == kNever) << i;
    ASSERT_LT(each.call, each.ret) << i;
    if (i > 0) {
      ASSERT_LT(operations[i - 1].call, each.call) << i;
    }
  }
}

// Nobody does two things at once, and an unknown outcome is the last thing its process does (unless it may go on).
TEST_P(Generator, RetiresProcesses) {
  const Generated generated =
      generate({.family = GetParam(), .operations = 5000, .clients = 7, .unknown = 0.03, .seed = 3});
  std::vector<objects::Instant> busy_until;
  for (const Operation& each : generated.operations) {
    if (each.process >= busy_until.size()) busy_until.resize(each.process + 1, -1);
    ASSERT_LT(busy_until[each.process], each.call);
    const bool goes_on = each.unknown() && GetParam() == Family::reuse;
    busy_until[each.process] = goes_on ? each.call : each.ret;
  }
}

TEST_P(Generator, IsBusyAllTheTime) {
  if (GetParam() == Family::lease) GTEST_SKIP() << "those who wait poll, and failed attempts are not recorded";
  const Generated generated = generate({.family = GetParam(), .operations = 10'000, .clients = 10, .seed = 5});
  double open = 0;
  for (const Operation& each : generated.operations) open += static_cast<double>(each.ret - each.call);
  EXPECT_GT(open / static_cast<double>(2 * generated.operations.size()), 4) << "of 10 clients";
}

TEST_P(Generator, FollowsTheSeedAlone) {
  Recipe recipe{.family = GetParam(), .operations = 3000, .clients = 6, .unknown = 0.02, .seed = 11};
  if (can_be_planted(GetParam())) recipe.violation = 2000;
  const Generated first = generate(recipe);
  EXPECT_EQ(first.operations, generate(recipe).operations);
  recipe.seed = 12;
  EXPECT_NE(first.operations, generate(recipe).operations);
}

TEST_P(Generator, SmallHistoriesHaveTheirVerdictByBruteForce) {
  if (GetParam() == Family::lease) GTEST_SKIP() << "trying every order says nothing about leases";
  const std::size_t keys = GetParam() == Family::kv ? 8 : 1;
  std::size_t valid = 0;
  std::size_t violated = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Recipe recipe{.family = GetParam(), .operations = 12 * keys, .clients = 3, .unknown = 0.1, .seed = seed};
    const Generated honest = generate(recipe);
    if (const auto verdict = possible(honest)) {
      ++valid;
      ASSERT_TRUE(*verdict) << seed << '\n' << print(honest);
    }
    if (!can_be_planted(GetParam())) continue;
    recipe.violation = 2;
    recipe.operations = 17 * keys;
    try {
      const Generated planted = generate(recipe);
      if (const auto verdict = possible(planted)) {
        ++violated;
        ASSERT_FALSE(*verdict) << seed << '\n' << print(planted);
      }
    } catch (const std::runtime_error&) {  // too short for it
    }
  }
  EXPECT_GT(valid, 500U);
  if (can_be_planted(GetParam())) {
    EXPECT_GT(violated, 100U);
  }
}

TEST_P(Generator, LargerHistoriesHaveTheirVerdictByTheDecider) {
  const bool hard = GetParam() == Family::register_few || GetParam() == Family::reuse;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Recipe recipe{.family = GetParam(), .operations = 3000, .clients = 8, .unknown = hard ? 0.001 : 0.02, .seed = seed};
    if (hard) recipe.clients = 4;
    EXPECT_EQ(decided(generate(recipe)), Answer::linearizable) << seed;
    if (!can_be_planted(GetParam())) continue;
    recipe.violation = 1500 + 50 * seed;
    EXPECT_EQ(decided(generate(recipe)), Answer::violation) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Generator, testing::ValuesIn(kAll), [](const auto& family) {
  std::string name(to_string(family.param));
  std::erase(name, '-');
  return name;
});

TEST(GeneratorNames, AreUnderstood) {
  std::set<std::string_view> names;
  for (const Family family : kAll) {
    names.insert(to_string(family));
    EXPECT_EQ(family_named(to_string(family)), family);
  }
  EXPECT_EQ(names.size(), kFamilies);
  EXPECT_EQ(family_named("no such family"), std::nullopt);
}

TEST(GeneratorRecipes, ThatMakeNoSenseAreRefused) {
  EXPECT_THROW(generate({.family = Family::mutex, .clients = 1}), std::invalid_argument);
  EXPECT_THROW(generate({.family = Family::queue, .unknown = 0.9}), std::invalid_argument);
  EXPECT_THROW(generate({.family = Family::reuse, .violation = 10}), std::invalid_argument);
  EXPECT_THROW(generate({.family = Family::mutex, .operations = 100, .violation = 100'000}), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::bench
