// Cutting a history anywhere gives the same events up to the cut, or one clear complaint; the size of the window makes
// no difference; and what the fuzzers have been fed with, all readers survive.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/error.h"
#include "harness/formats/fuzz/survive.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::string> rows(const RecordedHistory& history) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < history.size(); ++at) {
    const RecordedEvent& event = history[at];
    out.push_back(fmt::format("{} {} {} {} {} {} {} {}", to_string(event.type), event.process, history.text(event.f),
                              history.text(event.key), history.describe(event.value), event.hold, event.time,
                              history.text(event.error)));
  }
  return out;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const fs::path& seeds() {
  static const fs::path folder = fs::path(HOLDFAST_SOURCE_FOLDER) / "harness/formats/fuzz/corpus";
  return folder;
}

void expect_prefixes(const fs::path& file) {
  const std::string text = content(file);
  const RecordedHistory history = read_recorded(file);
  const std::vector<std::string> whole = rows(history);
  std::size_t most = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    SCOPED_TRACE(fmt::format("{} cut at {}", file.filename().string(), length));
    try {
      const RecordedHistory part = read_recorded_text(std::string_view(text).substr(0, length), "FILE",
                                                      {.format = history.format, .window = 32});
      const std::vector<std::string> kept = rows(part);
      ASSERT_LE(kept.size(), whole.size());
      ASSERT_TRUE(std::equal(kept.begin(), kept.end(), whole.begin()));
      most = std::max(most, kept.size());
    } catch (const UsageError& error) {
      ASSERT_EQ(most, 0U) << error.what();
      ASSERT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("nothing is left to judge"),
                                               testing::HasSubstr("the file is empty"),
                                               testing::HasSubstr("not one operation in this log")));
    }
  }
  EXPECT_GE(most + 1, whole.size()) << "only the last event may be lost";
}

TEST(Cut, JsonlAtEveryByte) {
  expect_prefixes(seeds() / "jsonl/locks.jsonl");
  expect_prefixes(seeds() / "jsonl/values.jsonl");
}

TEST(Cut, EdnAtEveryByte) {
  expect_prefixes(seeds() / "edn/lines.edn");
  expect_prefixes(seeds() / "edn/vector.edn");
  expect_prefixes(seeds() / "edn/atoms.edn");
}

TEST(Cut, JepsenLogAtEveryByte) {
  expect_prefixes(seeds() / "jepsen_log/usual.log");
}

TEST(Window, ItsSizeMakesNoDifference) {
  for (const char* name : {"jsonl/locks.jsonl", "edn/vector.edn", "edn/atoms.edn", "jepsen_log/usual.log",
                           "detect/locks.jsonl.gz", "edn/wrong.edn", "jsonl/wrong.jsonl"}) {
    const std::string text = content(seeds() / name);
    const std::string expected = outcome_of(text, {});
    for (std::size_t size = 1; size < 300; ++size) {
      ASSERT_EQ(outcome_of(text, {.window = size}), expected) << name << " in a window of " << size;
    }
  }
}

TEST(Seeds, EveryReaderSurvivesThem) {
  const std::vector<fs::path> files = files_below(seeds());
  ASSERT_GT(files.size(), 20U);
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    const std::string text = content(file);
    for (const bool tuple_keys : {false, true}) {
      survive(text, {.tuple_keys = tuple_keys});
      for (const Format format : {Format::jsonl, Format::edn, Format::jepsen_log}) {
        survive(text, {.format = format, .tuple_keys = tuple_keys});
      }
    }
  }
}

TEST(RecordedCorpus, ReadsWithoutComplaint) {
  const fs::path folder = fs::path(HOLDFAST_SOURCE_FOLDER) / "../shared/corpus";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus beside the project";
  std::size_t read = 0;
  for (const fs::path& file : files_below(folder)) {
    const std::string extension = file.extension().string();
    if (extension != ".edn" && extension != ".log" && extension != ".txt") continue;
    SCOPED_TRACE(file);
    const RecordedHistory history = read_recorded(file);
    EXPECT_EQ(history.format, extension == ".log" ? Format::jepsen_log : Format::edn);
    EXPECT_GT(history.operations + history.kept_out, 1U);
    EXPECT_FALSE(history.truncated);
    EXPECT_EQ(history.ignored_lines, 0U);
    ++read;
  }
  EXPECT_GT(read, 100U);
}

}  // namespace
}  // namespace holdfast::formats
