#include "harness/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 5> kSystems = {"redis-setnx", "redis-setnx-expire", "redis-setpx-del",
                                                      "redis-setpx-lua", "redis-setpx-lua-fenced"};
constexpr std::array<std::string_view, 3> kFaults = {"pause", "kill", "partition"};

TEST(Nearest, CountsInsertedDeletedReplacedAndSwappedLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("pause", "pause"), 0U);
  EXPECT_EQ(edit_distance("pasue", "pause"), 1U);
  EXPECT_EQ(edit_distance("pause", "paus"), 1U);
  EXPECT_EQ(edit_distance("pause", "parse"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("KILL", "kill"), 0U);
}

TEST(Nearest, NamesTheOneThatWasMeant) {
  EXPECT_EQ(did_you_mean("redis-setpxlua", kSystems), "did you mean redis-setpx-lua?");
  EXPECT_EQ(did_you_mean("Redis-SetNX", kSystems), "did you mean redis-setnx?");
  EXPECT_EQ(did_you_mean("pasue", kFaults), "did you mean pause?");
}

TEST(Nearest, NamesThoseThatHoldWhatWasTyped) {
  EXPECT_EQ(did_you_mean("fenced", kSystems), "did you mean redis-setpx-lua-fenced?");
  EXPECT_EQ(did_you_mean("setnx", kSystems), "did you mean redis-setnx or redis-setnx-expire?");
  EXPECT_EQ(did_you_mean("redis", kSystems), "did you mean redis-setnx, redis-setnx-expire or redis-setpx-del?");
}

TEST(Nearest, TellsAllWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("zookeeper", kFaults), "known are pause, kill and partition");
  EXPECT_EQ(did_you_mean("", kFaults), "known are pause, kill and partition");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'p'), kFaults), "known are pause, kill and partition");
  EXPECT_EQ(did_you_mean("clock", std::span(kFaults).first(1)), "known is pause");
  EXPECT_EQ(did_you_mean("clock", {}), "none is known");
}

}  // namespace
}  // namespace holdfast
