// The controller is killed with SIGKILL at fifty random moments of a run. No completed line may be lost, every history
// must be accepted by `check`, and nothing may be left of it: no process, no mount, no file outside the store.
#include <dirent.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"
#include "harness/event.h"
#include "harness/rng.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// Processes whose root is a node's: nothing else on a machine has our program folder at its root.
std::size_t processes_in_nodes() {
  std::size_t count = 0;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code unreadable;
    if (fs::exists(entry.path() / "root/holdfast", unreadable)) ++count;
  }
  return count;
}

std::string lines_of(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The history as it was the moment before the kill must be the beginning of what is there afterwards.
void expect_nothing_lost(const fs::path& history, const std::string& before) {
  const std::string after = lines_of(history.c_str());
  const std::string completed = before.substr(0, before.rfind('\n') + 1);
  EXPECT_TRUE(after.starts_with(completed)) << history;
  const Ran checked = run_holdfast({"check", history.parent_path().string()});
  EXPECT_THAT(checked.exit_code, testing::AnyOf(0, 1, 2)) << checked.errors;
}

TEST(KilledController, LosesNothingAndLeavesNothing) {
  const std::string obstacle = private_world_obstacle();
  if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
  const ScratchFolder folder;
  const std::string mounts_before = lines_of("/proc/self/mounts");
  const std::set<std::string> temporary_before = names_in(fs::temp_directory_path());
  Rng rng(2026);
  std::size_t with_events = 0;
  for (int round = 0; round < 50; ++round) {
    const fs::path store = folder.path() / fmt::format("store-{}", round);
    const pid_t controller = start_holdfast(
        {"run", "L05", "--time", "2s", "--seed", std::to_string(round), "--store", store.string()}, folder.path());
    // The moment is counted in events where there are some (0 … 400), so that slow machines kill just as evenly.
    const std::uint64_t events = rng.below(400);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const fs::path history = store / "current/history.jsonl";
    std::string before;
    int status = 0;
    bool ended = false;
    do {
      before = lines_of(history.c_str());
      ended = ::waitpid(controller, &status, WNOHANG) == controller;
    } while (!ended && static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) < events &&
             std::chrono::steady_clock::now() < deadline);
    if (!ended) {
      ::kill(controller, SIGKILL);
      ASSERT_EQ(::waitpid(controller, &status, 0), controller);
    }
    if (fs::exists(history)) {
      ++with_events;
      expect_nothing_lost(fs::canonical(history), before);
    }
  }
  EXPECT_GT(with_events, 40U);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (processes_in_nodes() > 0 && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(processes_in_nodes(), 0U);
  EXPECT_EQ(lines_of("/proc/self/mounts"), mounts_before);
  std::set<std::string> temporary_after = names_in(fs::temp_directory_path());
  for (const std::string& name : temporary_before) temporary_after.erase(name);
  for (const std::string& name : temporary_after)
    EXPECT_FALSE(name.starts_with("holdfast-") && !name.starts_with("holdfast-test-")) << name;
}

}  // namespace
}  // namespace holdfast
