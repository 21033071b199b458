// Tests of the source itself: who may include whom, how long files may grow, what may not be left lying around.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

const fs::path& source() {
  static const fs::path folder = HOLDFAST_SOURCE_FOLDER;
  return folder;
}

// Beside itself. cli and bench know everyone; tests may use what they like of what is below them.
const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"harness", {}},
      {"checkers", {"harness"}},
      {"workloads", {"harness", "checkers"}},
      {"nemesis", {"harness"}},
      {"clusters", {"harness"}},
      {"results", {"harness"}},
      {"adapters", {}},
      {"cli", {"harness", "checkers", "workloads", "nemesis", "clusters", "results"}},
      {"bench", {"harness", "checkers", "workloads", "nemesis", "clusters", "results", "cli"}},
  };
  return table;
}

std::vector<fs::path> sources() {
  std::vector<fs::path> files;
  for (const auto& [folder, _] : allowed()) {
    for (const auto& entry : fs::recursive_directory_iterator(source() / folder)) {
      if (entry.path().extension() == ".cc" || entry.path().extension() == ".h") files.push_back(entry.path());
    }
  }
  return files;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Tidy, FoldersIncludeOnlyWhatTheyMay) {
  ASSERT_GT(sources().size(), 50U);
  for (const fs::path& file : sources()) {
    const std::string from = fs::relative(file, source()).begin()->string();
    const bool test = file.filename().string().find("_test") != std::string::npos;
    for (const std::string& line : lines_of(file)) {
      constexpr std::string_view kInclude = "#include \"";
      if (!line.starts_with(kInclude) || line.find('/') == std::string::npos) continue;
      const std::string to = line.substr(kInclude.size(), line.find('/') - kInclude.size());
      const bool fine = to == from || allowed().at(from).contains(to) || (test && from != "adapters");
      EXPECT_TRUE(fine) << file << ": " << line;
    }
  }
}

TEST(Tidy, FilesStayShortAndFinished) {
  // Put together here, so that this file does not find itself.
  const std::vector<std::string> unfinished = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                               std::string("not ") + "implemented"};
  for (const fs::path& file : sources()) {
    const std::vector<std::string> lines = lines_of(file);
    EXPECT_LE(lines.size(), 600U) << file << " is too long: split it";
    for (const std::string& line : lines) {
      for (const std::string& word : unfinished) EXPECT_THAT(line, testing::Not(testing::HasSubstr(word))) << file;
    }
  }
}

}  // namespace
}  // namespace holdfast
