#include "cli/holdfast_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "harness/error.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t start(std::vector<std::string> argv, const fs::path& folder, const fs::path& output, const fs::path& errors) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork");
  if (child > 0) return child;
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  if (folder.empty() || ::chdir(folder.c_str()) == 0) ::execvp(words[0], words.data());
  ::_exit(127);
}

}  // namespace

std::string holdfast_program() {
  return std::string(HOLDFAST_PROGRAM_FOLDER) + "/holdfast";
}

Ran run_program(const std::vector<std::string>& argv, const fs::path& folder) {
  const ScratchFolder scratch;
  const fs::path output = scratch.path() / "output";
  const fs::path errors = scratch.path() / "errors";
  const pid_t child = start(argv, folder, output, errors);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_all(output), read_all(errors)};
}

Ran run_holdfast(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<std::string> argv = {holdfast_program()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_program(argv, folder);
}

pid_t start_holdfast(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<std::string> argv = {holdfast_program()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return start(argv, folder, "/dev/null", "/dev/null");
}

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "holdfast-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw system_error("make a folder for a test");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace holdfast
