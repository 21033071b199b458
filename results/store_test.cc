#include "results/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "harness/error.h"
#include "results/golden.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunInfo some_run(const std::string& name = "redis-lock-pause") {
  RunInfo info;
  info.name = name;
  info.system = "redis-setpx-lua";
  info.workload = "lock";
  info.faults = {"pause:holder"};
  info.argv = {"run", "L05", "--time", "3s"};
  info.seed = 18'000'000'000'000'000'000U;
  info.versions = {{"holdfast", "0.1.0"}};
  info.revision = "abc123";
  info.nodes = {"n1", "c1"};
  info.options = {{"lease_ms", 600}};
  return info;
}

// 2026-11-18T05:56:06.123Z
RunFolder::WallClock::time_point some_moment() {
  return RunFolder::WallClock::time_point(std::chrono::milliseconds(1794981366123));
}

std::string usage_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(RunInfo, survives_the_way_through_json) {
  const RunInfo info = some_run();
  const RunInfo back = run_info_from_json(Value::parse(to_json(info).dump()));
  EXPECT_EQ(to_json(back), to_json(info));
  EXPECT_EQ(back.seed, info.seed);
  EXPECT_EQ(back.argv, info.argv);
}

TEST(RunInfo, names_the_field_that_is_wrong) {
  Value json = to_json(some_run());
  json["seed"] = "many";
  try {
    run_info_from_json(json);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"seed\" is \"many\""));
  }
}

TEST(RepeatCommand, adds_the_seed_that_chance_chose) {
  EXPECT_EQ(repeat_command(some_run()), "./holdfast run L05 --time 3s --seed 18000000000000000000");
}

TEST(RepeatCommand, keeps_the_seed_that_was_given_and_quotes_for_a_shell) {
  RunInfo info = some_run();
  info.argv = {"run", "L05", "--seed=4", "--name", "it's here", ""};
  EXPECT_EQ(repeat_command(info), "./holdfast run L05 --seed=4 --name 'it'\\''s here' ''");
}

TEST(RunFolder, writes_test_json_at_once_and_points_current_at_it) {
  const TemporaryFolder store;
  const RunFolder run = RunFolder::create(store.path(), some_run(), some_moment());
  EXPECT_EQ(run.path(), store.path() / "redis-lock-pause/20261118T055606.123");
  EXPECT_EQ(read_run_info(run.path()).started, "2026-11-18T05:56:06.123Z");
  EXPECT_TRUE(fs::equivalent(store.path() / "current", run.path()));
  EXPECT_FALSE(fs::exists(fs::symlink_status(store.path() / "latest")));
}

TEST(RunFolder, moves_latest_only_when_the_history_is_closed) {
  const TemporaryFolder store;
  const RunFolder first = RunFolder::create(store.path(), some_run(), some_moment());
  first.history_closed();
  const RunFolder second = RunFolder::create(store.path(), some_run(), some_moment() + std::chrono::seconds(1));
  EXPECT_TRUE(fs::equivalent(store.path() / "latest", first.path()));
  EXPECT_TRUE(fs::equivalent(store.path() / "current", second.path()));
  second.history_closed();
  EXPECT_TRUE(fs::equivalent(store.path() / "latest", second.path()));
  EXPECT_TRUE(fs::equivalent(store.path() / "redis-lock-pause/latest", second.path()));
  EXPECT_TRUE(fs::read_symlink(store.path() / "latest").is_relative()) << "a store must survive being moved";
}

TEST(RunFolder, two_runs_of_one_millisecond_get_two_folders) {
  const TemporaryFolder store;
  std::set<fs::path> paths;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const RunFolder run = RunFolder::create(store.path(), some_run(), some_moment());
        const std::scoped_lock lock(mutex);
        paths.insert(run.path());
      });
    }
  }
  EXPECT_EQ(paths.size(), 8U);
  EXPECT_EQ(list_runs(store.path()).size(), 8U);
}

TEST(RunFolder, refuses_names_that_would_leave_the_store) {
  const TemporaryFolder store;
  for (const char* name : {"", "..", "a/b", "latest", "current"}) {
    EXPECT_THAT(usage_error([&] { RunFolder::create(store.path(), some_run(name)); }), HasSubstr("--name")) << name;
  }
}

TEST(RunFolder, a_store_that_cannot_be_made_is_one_line_with_the_fix) {
  const std::string in_proc = usage_error([] { RunFolder::create("/proc/store", some_run()); });
  EXPECT_THAT(in_proc, StartsWith("cannot create /proc/store"));
  EXPECT_THAT(in_proc, HasSubstr("; choose another folder with --store DIR"));
  EXPECT_THAT(in_proc, Not(HasSubstr("\n")));

  const TemporaryFolder folder;
  write_file(folder.path() / "file", "x");
  const std::string in_file = usage_error([&] { RunFolder::create(folder.path() / "file/store", some_run()); });
  EXPECT_THAT(in_file, HasSubstr("Not a directory; choose another folder with --store DIR"));
}

TEST(RunFolder, a_full_disk_keeps_the_old_file_and_says_so) {
  const TemporaryFolder folder;
  if (::mount("holdfast-test", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs is not allowed here; run the tests as root to try a full disk";
  }
  const fs::path file = folder.path() / "results.json";
  write_file(file, "old");
  const std::string error = usage_error([&] { write_file(file, std::string(1 << 20, 'x')); });
  const std::string kept = read_file(file);
  const auto files = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  ::umount2(folder.path().c_str(), MNT_DETACH);
  EXPECT_THAT(error, HasSubstr("results.json: No space left on device; choose another folder with --store DIR"));
  EXPECT_EQ(kept, "old");
  EXPECT_EQ(files, 1) << "a half-written file was left";
}

TEST(RunFolder, writes_replace_and_leave_nothing_else) {
  const TemporaryFolder store;
  const RunFolder run = RunFolder::create(store.path(), some_run(), some_moment());
  run.write("results.json", "one");
  run.write("results.json", "two");
  EXPECT_EQ(read_file(run.path() / "results.json"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(run.path()), fs::directory_iterator()), 2);
}

TEST(ResolveRun, finds_a_run_by_every_name_it_has) {
  const TemporaryFolder store;
  const RunFolder run = RunFolder::create(store.path(), some_run(), some_moment());
  run.write("history.jsonl", "");
  run.history_closed();
  const std::string inside = (run.path() / "history.jsonl").string();
  for (const std::string& what : {std::string("latest"), std::string("current"), std::string("redis-lock-pause"),
                                  std::string("redis-lock-pause/20261118T055606.123"), run.path().string(), inside}) {
    EXPECT_EQ(resolve_run(store.path(), what), run.path()) << what;
  }
}

TEST(ResolveRun, says_what_was_looked_for_and_how_to_list) {
  const TemporaryFolder store;
  for (const char* what : {"nonsense", "", "latest"}) {
    const std::string error = usage_error([&] { resolve_run(store.path(), what); });
    EXPECT_THAT(error, StartsWith(std::string("no run \"") + what + "\"")) << what;
    EXPECT_THAT(error, HasSubstr("`ls -d " + store.path().string() + "/*/*`"));
  }
}

TEST(ListRuns, newest_first_and_links_not_twice) {
  const TemporaryFolder store;
  const RunFolder old_run = RunFolder::create(store.path(), some_run("b"), some_moment());
  const RunFolder new_run = RunFolder::create(store.path(), some_run("a"), some_moment() + std::chrono::hours(1));
  old_run.history_closed();
  EXPECT_THAT(list_runs(store.path()), testing::ElementsAre(new_run.path(), old_run.path()));
  EXPECT_THAT(list_runs(store.path() / "absent"), testing::IsEmpty());
}

}  // namespace
}  // namespace holdfast
