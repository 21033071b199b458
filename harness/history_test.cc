#include "harness/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/error.h"

namespace holdfast {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Writes a history as text and removes it at the end.
class HistoryFiles : public ::testing::Test {
 protected:
  ~HistoryFiles() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  HistoryFiles() = default;

  HistoryFile read(const std::string& text) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << text;
    return read_history(file_);
  }
  std::string complaint(const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no complaint";
  }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      fmt::format("holdfast-{}-{}.jsonl", ::getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string line(int index, const char* type, int process, const char* f) {
  return fmt::format(R"({{"index":{},"type":"{}","process":{},"f":"{}","value":null,"time":{}}})", index, type, process,
                     f, index * 10) +
         "\n";
}

const std::string kFirst = line(0, "invoke", 0, "acquire");
const std::string kSecond = line(1, "ok", 0, "acquire");

TEST_F(HistoryFiles, PairsInvocationsWithTheirCompletions) {
  const HistoryFile result =
      read(line(0, "invoke", 0, "acquire") + line(1, "invoke", 1, "acquire") + line(2, "fail", 1, "acquire") +
           line(3, "ok", 0, "acquire") + line(4, "invoke", 1, "read") + line(5, "info", 1, "read") +
           line(6, "invoke", 0, "release"));
  const auto operations = result.history.operations();
  ASSERT_EQ(operations.size(), 4U);
  EXPECT_EQ(operations[0].invoke->index, 0U);
  EXPECT_EQ(operations[0].complete->index, 3U);
  EXPECT_TRUE(operations[0].ok());
  EXPECT_EQ(operations[1].complete->index, 2U);
  EXPECT_TRUE(operations[1].failed());
  EXPECT_TRUE(operations[2].unknown()) << "info";
  EXPECT_EQ(operations[2].complete->index, 5U);
  EXPECT_TRUE(operations[3].unknown()) << "never closed";
  EXPECT_EQ(operations[3].complete, nullptr);
  EXPECT_EQ(result.history.events().size(), 7U);
  EXPECT_EQ(result.history.end(), Time(60));
  EXPECT_FALSE(result.truncated);
}

TEST_F(HistoryFiles, NotesAndFaultsNeitherOpenNorCloseOperations) {
  const HistoryFile result =
      read(line(0, "info", 0, "renewed") + line(1, "invoke", 0, "acquire") + line(2, "info", 0, "step") +
           R"({"index":3,"type":"info","process":"nemesis","f":"pause","time":30})" + "\n" +
           R"({"index":4,"type":"info","process":"nemesis","f":"pause","time":40})" + "\n" +
           line(5, "info", 0, "lost") + line(6, "ok", 0, "acquire") + line(7, "info", 0, "exited"));
  ASSERT_EQ(result.history.operations().size(), 1U);
  EXPECT_EQ(result.history.operations()[0].complete->index, 6U);
  EXPECT_EQ(result.history.events().size(), 8U);
}

TEST_F(HistoryFiles, RefusesWhatCannotHaveHappened) {
  EXPECT_THAT(complaint(kFirst + line(1, "ok", 1, "acquire")),
              HasSubstr("event 1: process 1 completes acquire, which it has not invoked"));
  EXPECT_THAT(complaint(kFirst + line(1, "ok", 0, "release")),
              HasSubstr("completes release, which it has not invoked"));
  EXPECT_THAT(complaint(kFirst + kSecond + line(2, "ok", 0, "acquire")), HasSubstr("event 2"));
  EXPECT_THAT(complaint(kFirst + line(1, "invoke", 0, "read")),
              HasSubstr("process 0 invokes read while its acquire (event 0) is still open"));
  EXPECT_THAT(complaint(line(0, "invoke", 0, "read") + line(0, "ok", 0, "read")), HasSubstr("indices must grow"));
  EXPECT_THAT(
      complaint(line(5, "invoke", 0, "read") + R"({"index":6,"type":"ok","process":0,"f":"read","time":49})" + "\n"),
      HasSubstr("event 6 happened before event 5"));
}

TEST_F(HistoryFiles, BadLinesNameFileLineAndColumn) {
  EXPECT_THAT(complaint(kFirst + "{\"index\":oops}\n" + kSecond),
              StartsWith(file().string() + ":2: column 10: not JSON"));
  EXPECT_THAT(complaint(kFirst + "\n" + R"({"index":1,"type":"good"})" + "\n"),
              StartsWith(file().string() + ":3: column 12: field \"type\" is \"good\""));
  EXPECT_THAT(complaint("hello\n"), StartsWith(file().string() + ":1: column 1: not JSON"));
}

TEST_F(HistoryFiles, ALastLineCutAnywhereIsToleratedAndReported) {
  const std::string last =
      R"({"index":1,"type":"ok","process":0,"f":"acquire","value":{"a":"ü\n"},"error":null,"time":10})";
  for (std::size_t length = 1; length < last.size(); ++length) {
    const HistoryFile result = read(kFirst + last.substr(0, length));
    ASSERT_TRUE(result.truncated) << last.substr(0, length);
    ASSERT_EQ(result.history.events().size(), 1U);
  }
  const HistoryFile whole = read(kFirst + last);  // only the newline is missing: nothing is lost
  EXPECT_FALSE(whole.truncated);
  EXPECT_EQ(whole.history.events().size(), 2U);
}

TEST_F(HistoryFiles, SomethingElseWithoutANewlineIsNotACutHistory) {
  EXPECT_THAT(complaint("garbage"), HasSubstr(":1: column 1: not JSON"));
  EXPECT_THAT(complaint(std::string("\x89PNG\x1A\0\0", 7)), HasSubstr(":1: column 1: not JSON"));
  EXPECT_THAT(complaint(R"({"version":2,"builds":[]})"), HasSubstr("field \"index\" is missing"));
  EXPECT_THAT(complaint("{broken} and more"), HasSubstr("column 2: not JSON"));
}

TEST_F(HistoryFiles, EmptyLinesAndForeignLineEndingsAreFine) {
  EXPECT_EQ(read("").history.events().size(), 0U);
  EXPECT_EQ(read("").history.end(), Time(0));
  std::string windows = kFirst + "\n" + kSecond + "\n";
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
  const HistoryFile result = read(windows);
  EXPECT_EQ(result.history.operations().size(), 1U);
  EXPECT_FALSE(result.truncated);
}

TEST_F(HistoryFiles, AFileThatCannotBeReadIsTheUsersToFix) {
  EXPECT_THROW(static_cast<void>(read_history("/nonexistent/history.jsonl")), UsageError);
  EXPECT_THROW(static_cast<void>(read_history(std::filesystem::temp_directory_path())), UsageError);
}

TEST_F(HistoryFiles, OperationsStayValidWhenTheHistoryMoves) {
  HistoryFile result = read(kFirst + kSecond);
  const History moved = std::move(result.history);
  EXPECT_EQ(moved.operations()[0].invoke, moved.events().data());
}

}  // namespace
}  // namespace holdfast
