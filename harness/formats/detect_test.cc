#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "harness/error.h"
#include "harness/formats/fuzz/survive.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::string kJsonl = R"({"type":"invoke","process":0,"f":"read","value":null})"
                           "\n"
                           R"({"type":"ok","process":0,"f":"read","value":7})"
                           "\n";
const std::string kEdn =
    "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 7}\n";
const std::string kLog = "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\t7\n";

std::string packed(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16;
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + kGzip, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string outcome(const std::string& text) {
  return outcome_of(text, {});
}

// Something on the disk that is removed at the end.
class Files : public ::testing::Test {
 protected:
  Files() { fs::create_directories(folder_); }
  ~Files() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] fs::path write(const std::string& text) const {
    std::ofstream(folder_ / "history", std::ios::binary | std::ios::trunc) << text;
    return folder_ / "history";
  }
  static std::string complaint(const fs::path& file) {
    try {
      static_cast<void>(read_recorded(file));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no complaint";
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_ =
      fs::temp_directory_path() / fmt::format("holdfast-formats-{}-{}", ::getpid(),
                                              ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(Detect, EachFormatByItsContent) {
  const auto format = [](const std::string& text) { return read_recorded_text(text, "FILE").format; };
  EXPECT_EQ(format(kJsonl), Format::jsonl);
  EXPECT_EQ(format("\n \r\n { \"process\":0,\"type\":\"invoke\",\"f\":\"x\"}"), Format::jsonl);
  EXPECT_EQ(format(kEdn), Format::edn);
  EXPECT_EQ(format("[" + kEdn + "]"), Format::edn);
  EXPECT_EQ(format("(" + kEdn + ")"), Format::edn);
  EXPECT_EQ(format("; comment\n" + kEdn), Format::edn);
  EXPECT_EQ(format("; [ " + std::string(200'000, 'x') + "\n" + kEdn), Format::edn);
  EXPECT_EQ(format("#jepsen.Op " + kEdn), Format::edn);
  EXPECT_EQ(format("[]"), Format::edn);
  EXPECT_EQ(format(kLog), Format::jepsen_log);
  EXPECT_EQ(format("[12:00:00] main " + kLog), Format::jepsen_log);
  EXPECT_EQ(format("Running\n\x1B[31mred\x1B[0m\n" + kLog), Format::jepsen_log);
}

TEST(Detect, AllFormatsSayTheSame) {
  EXPECT_EQ(outcome(kJsonl), outcome(kEdn));
  EXPECT_EQ(outcome(kJsonl), outcome(kLog));
}

TEST(Detect, ByteOrderMarksAndForeignLineEndsChangeNothing) {
  for (const std::string& text : {kJsonl, kEdn, kLog}) {
    EXPECT_EQ(outcome("\xEF\xBB\xBF" + text), outcome(text));
    std::string windows = text;
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
    EXPECT_EQ(outcome(windows), outcome(text));
    survive("\xEF\xBB\xBF" + windows, {});
  }
  EXPECT_THAT(outcome("\xEF\xBB\xBF{\"type\":oops}"), HasSubstr("line 1 column 9: "));
}

TEST(Detect, PackedIsTheSameAsPlain) {
  for (const std::string& text : {kJsonl, kEdn, kLog}) {
    EXPECT_EQ(outcome(packed(text)), outcome(text));
    const std::size_t newline = text.find('\n') + 1;
    EXPECT_EQ(outcome(packed(text.substr(0, newline)) + packed(text.substr(newline))), outcome(text)) << "two members";
    EXPECT_EQ(outcome(packed(text) + std::string(512, '\0')), outcome(text)) << "padding";
  }
  std::string large;
  for (int i = 0; i < 20'000; ++i) large += kEdn;
  EXPECT_EQ(outcome(packed(large)), outcome(large));
}

TEST(Detect, ACutPackedFileIsReadUpToTheCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text +=
        fmt::format("{{\"type\":\"invoke\",\"process\":{},\"f\":\"f{}\",\"value\":{}}}\n", i, i * 7919 % 1000, i * i);
  }
  const std::string whole = packed(text);
  std::size_t most = 0;
  for (std::size_t length = 2; length < whole.size(); length += 7) {
    const std::string cut = whole.substr(0, length);
    try {
      const RecordedHistory history = read_recorded_text(cut, "FILE");
      EXPECT_TRUE(history.truncated) << length;
      for (std::size_t at = 0; at < history.size(); ++at) {
        EXPECT_EQ(history.describe(history[at].value), fmt::format("{}", at * at));
      }
      most = std::max(most, history.size());
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(),
                  EndsWith("cut short in its first event; nothing is left to judge, fetch the file again"));
    }
  }
  EXPECT_GT(most, 250U);
}

TEST(Detect, ACutPackedFileLosesNothingThatFitsTheWindow) {
  const std::string whole = packed(kJsonl + std::string(3000, ' ') + "\n" + kJsonl);  // one long copy for zlib
  for (std::size_t length = 2; length < whole.size(); ++length) survive(whole.substr(0, length), {});
}

TEST(Detect, DamagedPackedFilesAreRefused) {
  std::string damaged = packed(kJsonl);
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // in the checksum
  EXPECT_EQ(outcome(damaged),
            "FILE line 3 column 1: the gz data is damaged from here on (incorrect data check); pack the history again "
            "with gzip");
  EXPECT_THAT(outcome("\x1F\x8Bxxxxxxxxxxxxxxxxxx"), HasSubstr("line 1 column 1: the gz data is damaged from here on"));
  EXPECT_EQ(outcome(packed(kJsonl) + "more"),
            "FILE line 3 column 1: the gz data ends here, but the file goes on with something else; pack it again with "
            "gzip");
}

TEST(Detect, WhatIsNoHistoryIsRefused) {
  EXPECT_EQ(outcome(""), "FILE line 1 column 1: the file is empty; name a file with a recorded history");
  EXPECT_EQ(
      outcome(" \n; nothing\n"),
      "FILE line 1 column 1: no event in the file, only blanks and comments; name a file with a recorded history");
  EXPECT_EQ(outcome(std::string("\x89PNG\x1A\0\0", 7)),
            "FILE line 1 column 1: a binary file; a history is history.jsonl, Jepsen's EDN or Jepsen's log, plain or "
            "packed with gz");
  EXPECT_EQ(
      outcome("\nDear diary,\n"),
      "FILE line 2 column 1: \"Dear diary,?\" begins no history; known are history.jsonl, Jepsen's EDN and Jepsen's "
      "log, plain or packed with gz");
  EXPECT_EQ(
      outcome("[{\"type\":\"ok\"}]"),
      "FILE line 1 column 1: a JSON array; a history has one event per line: jq -c '.[]' turns one into the other");
  EXPECT_EQ(outcome("{"),
            "FILE line 1 column 2: cut short in its first event; nothing is left to judge, fetch the file again");
}

TEST_F(Files, AreReadLikeText) {
  const RecordedHistory history = read_recorded(write(packed(kEdn)));
  EXPECT_EQ(history.size(), 2U);
  EXPECT_THAT(complaint(write(kJsonl + "oops\n")), HasSubstr("history line 3 column 1: not JSON"));
}

TEST_F(Files, ThatCannotBeReadAreTheUsersToFix) {
  EXPECT_EQ(complaint(folder() / "none"),
            fmt::format("cannot read {}: there is no such file; check the path", (folder() / "none").string()));
  EXPECT_EQ(complaint(folder()),
            fmt::format("cannot read {}: it is a folder; name the history in it", folder().string()));
}

}  // namespace
}  // namespace holdfast::formats
