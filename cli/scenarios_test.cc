// Every row of the catalogue on the real servers: with its fault it must reach its verdict, without it all must hold.
// One seed each here; bench/scenarios runs ten.
#include "cli/scenarios.h"

#include <gmock/gmock.h>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"

namespace holdfast {

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.id;
}

namespace {

using testing::HasSubstr;

class ScenarioTest : public testing::TestWithParam<Scenario> {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
  }
};

TEST_P(ScenarioTest, ReachesItsVerdict) {
  const ScratchFolder folder;
  const Ran ran = run_holdfast({"run", std::string(GetParam().id), "--seed", "1"}, folder.path());
  EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("The verdict is the expected one.")) << ran.errors;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "store/latest/report.html"));
}

TEST_P(ScenarioTest, HoldsWithoutTheFault) {
  const ScratchFolder folder;
  const Ran ran = run_holdfast({"run", std::string(GetParam().id), "--faults", "none", "--seed", "1"}, folder.path());
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ScenarioTest, testing::ValuesIn(scenarios().begin(), scenarios().end()),
                         [](const auto& test) { return std::string(test.param.id); });

}  // namespace
}  // namespace holdfast
