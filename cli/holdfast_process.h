// Runs the real `holdfast` program the way a user does, for the tests that look at it from outside.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast {

struct Ran {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string output;
  std::string errors;
};

// argv[0] is found beside the test program. Runs in `folder`, or here.
Ran run_holdfast(const std::vector<std::string>& arguments, const std::filesystem::path& folder = {});
Ran run_program(const std::vector<std::string>& argv, const std::filesystem::path& folder = {});

pid_t start_holdfast(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

std::string holdfast_program();

// A folder of the test's own, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast
