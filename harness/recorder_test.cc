#include "harness/recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/error.h"
#include "harness/history.h"

namespace holdfast {
namespace {

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::temp_directory_path() / fmt::format("holdfast-recorder-{}.jsonl", ::getpid());
    std::filesystem::remove(file_);
  }
  void TearDown() override { std::filesystem::remove(file_); }
  std::filesystem::path file_;
};

Event note(std::int64_t process) {
  return {.type = EventType::info, .process = Process{process}, .f = "step", .value = 1};
}

TEST_F(RecorderTest, ManyThreadsGetDenseIndicesInTheOrderOfTime) {
  Recorder recorder(file_);
  {
    std::vector<std::jthread> threads;
    for (std::int64_t process = 0; process < 4; ++process) {
      threads.emplace_back([&recorder, process] {
        for (int i = 0; i < 500; ++i) {
          Event event = note(process);
          recorder.append(event);
          if (i % 7 == 0) recorder.flush();
        }
      });
    }
  }
  recorder.close();
  const HistoryFile file = read_history(file_);  // checks that index and time grow
  ASSERT_EQ(file.history.events().size(), 2000U);
  EXPECT_EQ(file.history.events().back().index, 1999U);
}

TEST_F(RecorderTest, WhatWasFlushedSurvivesSigkill) {
  const pid_t child = ::fork();
  if (child == 0) {
    Recorder recorder(file_);
    Event flushed = note(1);
    recorder.append(flushed);
    recorder.flush();
    Event lost = note(2);
    recorder.append(lost);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const HistoryFile file = read_history(file_);
  ASSERT_EQ(file.history.events().size(), 1U);
  EXPECT_EQ(number(file.history.events()[0].process), 1);
}

TEST_F(RecorderTest, RefusesToWriteOverAHistory) {
  std::ofstream(file_) << "precious\n";
  EXPECT_THROW(Recorder recorder(file_), UsageError);
  std::string line;
  std::ifstream(file_) >> line;
  EXPECT_EQ(line, "precious");
}

// A real full disk: a tiny file system in memory. What did not fit is kept and written once there is room again.
TEST_F(RecorderTest, FullDiskLosesNothing) {
  const std::filesystem::path disk =
      std::filesystem::temp_directory_path() / fmt::format("holdfast-disk-{}", ::getpid());
  std::filesystem::create_directories(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    std::filesystem::remove(disk);
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  std::ofstream(disk / "ballast") << std::string(60000, 'x');
  {
    Recorder recorder(disk / "history.jsonl");
    std::string why;
    for (int i = 0; i < 200; ++i) {
      Event event = note(i);
      recorder.append(event);
    }
    try {
      recorder.flush();
    } catch (const Error& error) {
      why = error.what();
    }
    EXPECT_THAT(why, testing::AllOf(testing::HasSubstr("history.jsonl"), testing::HasSubstr("No space left")));
    std::filesystem::remove(disk / "ballast");
    recorder.close();
    EXPECT_EQ(read_history(disk / "history.jsonl").history.events().size(), 200U);
  }
  ::umount2(disk.c_str(), MNT_DETACH);
  std::filesystem::remove(disk);
}

}  // namespace
}  // namespace holdfast
