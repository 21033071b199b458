#include "workloads/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/error.h"
#include "harness/simulation.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string complaint(std::string_view name) {
  try {
    static_cast<void>(find_workload(name));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(Workloads, AreFoundByName) {
  for (const WorkloadEntry& entry : workloads()) {
    EXPECT_EQ(&find_workload(entry.name), &entry);
    EXPECT_FALSE(entry.summary.empty());
    const Workload workload = entry.make({});
    EXPECT_NE(workload.generator, nullptr) << entry.name;
    EXPECT_FALSE(workload.checkers.empty()) << entry.name;
  }
}

TEST(Workloads, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(complaint("lokc"), R"(unknown workload "lokc"; did you mean lock? (holdfast list shows all))");
  EXPECT_THAT(complaint("transactions"), HasSubstr("known are lock, register and noop"));
}

TEST(Workloads, RegisterReadsAndWritesUniqueValuesWithoutPause) {
  const Workload workload = find_workload("register").make({.seed = 3, .time_limit = 1s, .locks = 2});
  const Simulated run = simulate(*workload.generator, {.lanes = 4});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.events.size(), 8000U) << "4 lanes, 1 ms per operation, 1 s, 2 events each";
  std::map<std::string, std::size_t> count;
  std::set<std::int64_t> written;
  for (const Event& event : run.events) {
    if (event.type != EventType::invoke) continue;
    ++count[event.f];
    ++count[event.key];
    if (event.f == "write") {
      EXPECT_TRUE(written.insert(event.value.get<std::int64_t>()).second);
    }
  }
  EXPECT_EQ(count.size(), 4U) << "read, write, r1, r2";
  for (const auto& [name, times] : count) EXPECT_NEAR(static_cast<double>(times), 2000, 150) << name;
  EXPECT_FALSE(workload.needs_resource);
}

TEST(Workloads, NoopDoesNothingWithoutPause) {
  const Workload workload = find_workload("noop").make({.time_limit = 100ms});
  const Simulated run = simulate(*workload.generator, {.lanes = 2});
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.now, 100ms);
  ASSERT_EQ(run.events.size(), 400U);
  EXPECT_EQ(run.events.front().f, "noop");
}

}  // namespace
}  // namespace holdfast
