#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/error.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {
namespace {

RecordedHistory read(const std::string& text, bool tuple_keys = false) {
  return read_recorded_text(text, "jepsen.log", {.format = Format::jepsen_log, .tuple_keys = tuple_keys});
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(JepsenLog, OperationsStandAmongOtherLines) {
  const RecordedHistory history = read(
      "INFO  jepsen.core - Worker 0 starting\n"
      "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"
      "2014-01-01 12:00:00,123 worker 3 INFO  jepsen.util - 3   :invoke   :cas    [1 0]\n"
      "INFO  jepsen.util - :nemesis\t:info\t:start\t\"Cut off {:n1 #{\"\n"
      "INFO  jepsen.util - something else\n"
      "\n"
      "2019-05-15 15:35:06,497{GMT}\tINFO\t[jepsen worker 5] jepsen.util: 0\t:ok\t:read\t4\r\n"
      "INFO [2018-11-13 20:03:27,312] jepsen worker 3 - jepsen.util 3\t:info\t:cas\t:timed-out\n"
      "INFO  jepsen.util - 8\t:invoke\t:acquire\t{:hold 2, :lease_ms 9}\n"
      "INFO  jepsen.util - 8\t:fail\t:acquire\tnil\t[:busy \"n 1\"]\n");
  ASSERT_EQ(history.size(), 6U);
  EXPECT_EQ(history.ignored_lines, 2U);
  EXPECT_EQ(history.kept_out, 1U);
  EXPECT_EQ(history.operations, 3U);
  EXPECT_EQ(history.text(history[0].f), "read");
  EXPECT_TRUE(history[0].value.nothing());
  EXPECT_EQ(history[1].process, 3);
  EXPECT_EQ(history.describe(history[1].value), "[1,0]");
  EXPECT_EQ(history[2].type, EventType::ok);
  EXPECT_EQ(history.describe(history[2].value), "4");
  EXPECT_EQ(history[3].type, EventType::info);
  EXPECT_EQ(history.text(history[3].error), "timed-out");
  EXPECT_TRUE(history[3].value.nothing());
  EXPECT_EQ(history[4].hold, 2U);
  EXPECT_EQ(history.text(history[5].error), "[:busy \"n 1\"]");
  EXPECT_FALSE(history.timed);
}

TEST(JepsenLog, AKeywordIsAnErrorOnlyWhereOneCanBe) {
  const RecordedHistory history = read(
      "INFO  jepsen.util - 0 :invoke :write :red\n"
      "INFO  jepsen.util - 0 :ok :write :red\n");
  EXPECT_EQ(history.describe(history[1].value), "\"red\"");
  EXPECT_EQ(history[1].error, kNoText);
}

TEST(JepsenLog, KeysInTuples) {
  const RecordedHistory history = read("INFO  jepsen.util - 0 :invoke :write [7 [1 2]]\n", true);
  EXPECT_EQ(history.text(history[0].key), "7");
  EXPECT_EQ(history.describe(history[0].value), "[1,2]");
}

TEST(JepsenLog, ComplaintsNameLineColumnAndFix) {
  EXPECT_EQ(complaint("\nINFO  jepsen.util - 0 :invoke :write [1\n"),
            "jepsen.log line 2 column 40: the line ends before its value does; an operation stands on one line");
  EXPECT_EQ(complaint("INFO  jepsen.util - 0 :invoke\n"),
            "jepsen.log line 1 column 30: the function is missing; every event needs its function");
  EXPECT_EQ(
      complaint("INFO  jepsen.util - 0 :ok :read 1\n"),
      "jepsen.log line 1 column 1: process 0 completes \"read\", which it has not invoked; a completion needs its "
      "invocation");
  EXPECT_EQ(complaint("INFO  jepsen.util - 0 :invoke :write 1x\n"),
            "jepsen.log line 1 column 38: \"1x\" is no number; put it in quotes if it is a text");
  EXPECT_EQ(complaint("INFO  jepsen.core - Running\n"),
            "jepsen.log line 2 column 1: not one operation in this log; is it the log of a Jepsen test?");
  EXPECT_THAT(complaint("INFO  jepsen.util - 99999999999999999999 :invoke :read nil\n"),
              testing::HasSubstr("number the processes from 0"));
}

TEST(JepsenLog, ALineWithoutItsNewlineIsLeftOut) {
  const std::string first = "INFO  jepsen.util - 0 :invoke :write 12\n";
  const RecordedHistory cut = read(first + "INFO  jepsen.util - 0 :ok :write 1");
  EXPECT_TRUE(cut.truncated) << "it may have been 12";
  EXPECT_EQ(cut.size(), 1U);
  EXPECT_FALSE(read(first).truncated);
  EXPECT_TRUE(read(first + "INFO  jepsen.util - 0 :o").truncated);
}

}  // namespace
}  // namespace holdfast::formats
