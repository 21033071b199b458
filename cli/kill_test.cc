// The controller is killed with SIGKILL at fifty random moments of a run. No completed line may be lost, every history
// must be accepted by `check`, and nothing may be left of it: no process, no mount, no file outside the store.
#include <dirent.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"
#include "harness/event.h"
#include "harness/rng.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark =
    "HOLDFAST_KILL_TEST";  // in the environment of this test's controllers and their nodes' inits

// Processes in nodes that this test's controllers made: PID 1 of such a node is a copy of its controller.
std::size_t processes_in_nodes() {
  std::size_t count = 0;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::error_code unreadable;
    if (!fs::exists(entry.path() / "root/holdfast", unreadable)) continue;
    std::ifstream environment(entry.path() / "root/proc/1/environ");
    const std::string text((std::istreambuf_iterator<char>(environment)), {});
    if (text.find(kMark) != std::string::npos) ++count;
  }
  return count;
}

// Other tests mount small disks of their own meanwhile.
std::set<std::string> mounts() {
  std::set<std::string> found;
  std::ifstream in("/proc/self/mounts");
  for (std::string line; std::getline(in, line);) {
    if (line.find("/holdfast-test-") == std::string::npos && line.find("/holdfast-disk-") == std::string::npos)
      found.insert(line);
  }
  return found;
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
  ::setenv(kMark, "1", 1);
  const std::set<std::string> mounts_before = mounts();
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
    std::size_t alive = 0;
    int status = 0;
    bool ended = false;
    do {
      before = lines_of(history.c_str());
      ended = ::waitpid(controller, &status, WNOHANG) == controller;
    } while (!ended && static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) < events &&
             std::chrono::steady_clock::now() < deadline);
    if (!ended) {
      alive = processes_in_nodes();
      ::kill(controller, SIGKILL);
      ASSERT_EQ(::waitpid(controller, &status, 0), controller);
    }
    if (fs::exists(history)) {
      ++with_events;
      EXPECT_TRUE(ended || alive > 0) << "the way to find a node's processes does not find them";
      expect_nothing_lost(fs::canonical(history), before);
    }
  }
  EXPECT_GT(with_events, 40U);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (processes_in_nodes() > 0 && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(processes_in_nodes(), 0U);
  EXPECT_EQ(mounts(), mounts_before);
  std::set<std::string> temporary_after = names_in(fs::temp_directory_path());
  for (const std::string& name : temporary_before) temporary_after.erase(name);
  for (const std::string& name : temporary_after)
    EXPECT_FALSE(name.starts_with("holdfast-") && !name.starts_with("holdfast-test-")) << name;
}

}  // namespace
}  // namespace holdfast
