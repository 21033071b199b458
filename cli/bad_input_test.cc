// What users mistype and what machines refuse: one line that names the thing, the value and the fix, the right exit
// code, and nothing left behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> said;  // all of it, in the one line
};

void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

class BadInputTest : public testing::TestWithParam<BadInput> {};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_P(BadInputTest, IsExplainedInOneLine) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "garbage.jsonl")
      << "{\"index\":0,\"type\":\"invoke\",\"process\":0,\"f\":\"acquire\",\"value\":null,\"time\":1}\n"
         "this is no history\nnor is this\n";
  const Ran ran = run_holdfast(GetParam().arguments, folder.path());
  EXPECT_EQ(ran.exit_code, 254) << ran.output << ran.errors;
  EXPECT_EQ(lines(ran.errors), 1U) << ran.errors;
  for (const std::string& part : GetParam().said) EXPECT_THAT(ran.errors, HasSubstr(part));
  EXPECT_FALSE(fs::exists(folder.path() / "store")) << "something was started all the same";
}

INSTANTIATE_TEST_SUITE_P(
    Cli, BadInputTest,
    testing::Values(
        BadInput{"UnknownSystem", {"run", "redis-setpxlua"}, {"redis-setpxlua", "did you mean redis-setpx-lua"}},
        BadInput{"UnknownSystemInAudit", {"audit", "zookeper"}, {"zookeper", "holdfast list"}},
        BadInput{"UnknownFault", {"run", "L05", "--faults", "puase"}, {"puase", "did you mean pause"}},
        BadInput{"UnknownTarget", {"run", "L05", "--faults", "pause:hodler"}, {"hodler", "holder"}},
        BadInput{"UnknownTrigger", {"run", "L05", "--faults", "pause:holder@aquired"}, {"aquired", "acquired"}},
        BadInput{"UnknownStep", {"run", "L04", "--faults", "pause:holder@step:got"}, {"got", "get-done"}},
        BadInput{"NoSuchStep", {"run", "L05", "--faults", "pause:holder@step:x"}, {"announce no steps", "@acquired"}},
        BadInput{"HolderAtATime", {"run", "L05", "--faults", "pause:holder@time"}, {"@acquired"}},
        BadInput{"BadLink", {"run", "L05", "--faults", "partition:c1>"}, {"c1>", "a>b"}},
        BadInput{"UnknownFlag", {"run", "L05", "--sede", "7"}, {"--sede", "--help"}},
        BadInput{"UnknownCommand", {"rnu", "L05"}, {"rnu", "--help"}}, BadInput{"NoCommand", {}, {"--help"}},
        BadInput{"NegativeTime", {"run", "L05", "--time", "-5s"}, {"--time", "-5s", "negative"}},
        BadInput{"NotATime", {"run", "L05", "--time", "soon"}, {"--time", "soon", "30s"}},
        BadInput{"TinyLease", {"run", "L05", "--lease", "1ms"}, {"--lease", "50ms"}},
        BadInput{"ZeroClients", {"run", "L05", "--concurrency", "0"}, {"--concurrency 0", "from 1"}},
        BadInput{"NotASeed", {"run", "L05", "--seed", "lucky"}, {"--seed lucky"}},
        BadInput{"WrongWorkload", {"run", "redis-setpx-lua", "--workload", "register"}, {"register", "lock"}},
        BadInput{"UnknownWorkload", {"run", "redis-setpx-lua", "--workload", "lok"}, {"lok", "lock"}},
        BadInput{"MissingNodesFile", {"run", "L05", "--nodes-file", "nowhere"}, {"nowhere", "one host name per line"}},
        BadInput{"GarbageHistory", {"check", "garbage.jsonl"}, {"garbage.jsonl:2", "JSON"}},
        BadInput{"MissingHistory", {"check", "nowhere.jsonl"}, {"nowhere.jsonl"}},
        BadInput{"NoSuchRun", {"report", "nothing"}, {"nothing"}},
        BadInput{"UnreadableStore", {"run", "L05", "--store", "/proc/store"}, {"/proc/store", "--store"}},
        BadInput{"ClockAtNoTime", {"run", "L05", "--faults", "clock:holder@time"}, {"clock:holder@time", "@acquired"}}),
    [](const auto& test) { return std::string(test.param.name); });

class BadMachineTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
  }
  ScratchFolder folder_;
};

TEST_F(BadMachineTest, MissingClientProgramIsNamed) {
  const Ran ran = run_holdfast({"run", "L05", "--client", "no-such-client", "--time", "1s"}, folder_.path());
  EXPECT_EQ(ran.exit_code, 255) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("no-such-client"));
}

TEST_F(BadMachineTest, ReadOnlyStoreIsNamedWithTheFix) {
  if (::mount("none", folder_.path().c_str(), "tmpfs", MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  const Ran ran = run_holdfast({"run", "L05", "--store", (folder_.path() / "store").string()});
  ::umount2(folder_.path().c_str(), MNT_DETACH);
  EXPECT_EQ(ran.exit_code, 254) << ran.errors;
  EXPECT_EQ(lines(ran.errors), 1U) << ran.errors;
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("Read-only file system"), HasSubstr("--store")));
}

// The disk fills up while the run goes on. What was recorded stays and is a history that can be judged.
TEST_F(BadMachineTest, FullDiskEndsTheRunAndKeepsWhatWasRecorded) {
  if (::mount("none", folder_.path().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  const Ran ran = run_holdfast({"run", "L05", "--faults", "none", "--hold", "1ms", "--time", "30s", "--store",
                                (folder_.path() / "store").string()});
  const fs::path history = folder_.path() / "store/current/history.jsonl";
  std::ifstream in(history);
  const std::string kept((std::istreambuf_iterator<char>(in)), {});
  in.close();
  ::umount2(folder_.path().c_str(), MNT_DETACH);
  EXPECT_EQ(ran.exit_code, 255) << ran.output << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("No space left on device"));
  const ScratchFolder copy;
  std::ofstream(copy.path() / "history.jsonl") << kept;
  EXPECT_GT(lines(kept), 100U);
  const Ran checked = run_holdfast({"check", (copy.path() / "history.jsonl").string()});
  EXPECT_TRUE(checked.exit_code == 0 || checked.exit_code == 2) << checked.output << checked.errors;
}

}  // namespace
}  // namespace holdfast
