// The golden runs of results/testdata, for tests.
#pragma once

#include <filesystem>
#include <string>

#include "results/results.h"
#include "results/store.h"

namespace holdfast {

inline std::filesystem::path testdata() {
  return std::filesystem::path(HOLDFAST_SOURCE_FOLDER) / "results/testdata";
}

struct GoldenRun {
  RunInfo info;
  RunResults results;
  HistoryFile file;
  std::filesystem::path folder;  // as it would be printed, not where it is

  explicit GoldenRun(const std::string& name)
      : info(read_run_info(testdata() / name)),
        results(read_results(testdata() / name)),
        file(read_history(testdata() / name / "history.jsonl")),
        folder(std::filesystem::path("store") / info.name / "20261118T055606.123") {}
};

// A folder of its own for each test, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-results-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast
