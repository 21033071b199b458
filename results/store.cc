#include "results/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "harness/error.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

UsageError cannot(std::string_view action, const fs::path& path, int error) {
  UsageError made(fmt::format("cannot {} {}: {}; choose another folder with --store DIR", action, path.string(),
                              std::strerror(error)));
  return made;
}

// A rename is durable only once its folder is. Some file systems refuse to sync a folder: then nothing can be done.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) ::fsync(descriptor.get());
}

void write_all(int descriptor, std::string_view contents, const fs::path& file) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot("write", file, errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Beside the file itself, since a rename does not cross file systems; no two writers share one.
fs::path temporary_name(const fs::path& file) {
  static std::atomic<std::uint64_t> count = 0;
  fs::path temporary = file;
  temporary += fmt::format(".{}-{}.tmp", ::getpid(), ++count);
  return temporary;
}

// Replaces a link in one step: whoever follows it sees the old run or the new one.
void point(const fs::path& link, const fs::path& target) {
  const fs::path temporary = temporary_name(link);
  ::unlink(temporary.c_str());  // what a killed namesake of ours may have left
  if (::symlink(target.c_str(), temporary.c_str()) != 0) throw cannot("create", link, errno);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    throw cannot("create", link, error);
  }
}

std::string format_time(RunFolder::WallClock::time_point now, const char* pattern) {
  const std::time_t seconds = RunFolder::WallClock::to_time_t(std::chrono::floor<std::chrono::seconds>(now));
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), pattern, &utc);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{}.{:03}", std::string_view(text.data(), length), milliseconds);
}

void create_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw cannot("create", folder, error.value());
}

// mkdir(2) says who was first, so two runs never share a folder; the loser tries the next millisecond.
fs::path create_unique(const fs::path& parent, RunFolder::WallClock::time_point now) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fs::path path = parent / format_time(now + std::chrono::milliseconds(attempt), "%Y%m%dT%H%M%S");
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) throw cannot("create", path, errno);
  }
  throw cannot("create", parent / format_time(now, "%Y%m%dT%H%M%S"), EEXIST);
}

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "test.json", ignored) || fs::is_regular_file(folder / "history.jsonl", ignored);
}

std::string quote(const std::string& argument) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("-_./:=,@%+", c) != nullptr; };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return argument;
  std::string quoted = "'";
  for (const char c : argument) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

template <typename T>
T field(const Value& json, const char* name, T missing) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return missing;
  try {
    return found->get<T>();
  } catch (const Value::exception&) {
    throw Error(fmt::format("test.json: \"{}\" is {}, which is not what belongs there", name, found->dump()));
  }
}

}  // namespace

Value to_json(const RunInfo& info) {
  return {{"name", info.name},
          {"system", info.system},
          {"workload", info.workload},
          {"faults", info.faults},
          {"argv", info.argv},
          {"seed", info.seed},
          {"versions", info.versions},
          {"nodes", info.nodes},
          {"started", info.started},
          {"options", info.options},
          {"revision", info.revision.empty() ? Value() : Value(info.revision)}};
}

RunInfo run_info_from_json(const Value& json) {
  if (!json.is_object()) throw Error("test.json: not a JSON object");
  RunInfo info;
  info.name = field<std::string>(json, "name", "");
  info.system = field<std::string>(json, "system", "");
  info.workload = field<std::string>(json, "workload", "");
  info.faults = field<std::vector<std::string>>(json, "faults", {});
  info.argv = field<std::vector<std::string>>(json, "argv", {});
  info.seed = field<std::uint64_t>(json, "seed", 0);
  info.versions = field<Value>(json, "versions", Value::object());
  info.revision = field<std::string>(json, "revision", "");
  info.nodes = field<std::vector<std::string>>(json, "nodes", {});
  info.started = field<std::string>(json, "started", "");
  info.options = field<Value>(json, "options", Value::object());
  return info;
}

RunInfo read_run_info(const fs::path& run) {
  const fs::path file = run / "test.json";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw UsageError(
        fmt::format("{} has no test.json: this is not a run's folder; name one that has it", run.string()));
  }
  const Value json = Value::parse(read_file(file), nullptr, false);
  if (json.is_discarded()) throw UsageError(fmt::format("{} is not JSON; restore it or run again", file.string()));
  return run_info_from_json(json);
}

std::string repeat_command(const RunInfo& info) {
  std::string command = "./holdfast";
  bool seeded = false;
  for (const std::string& argument : info.argv) {
    seeded = seeded || argument == "--seed" || argument.starts_with("--seed=");
    command += ' ' + quote(argument);
  }
  if (!seeded) command += fmt::format(" --seed {}", info.seed);
  return command;
}

void write_file(const fs::path& file, std::string_view contents) {
  const fs::path temporary = temporary_name(file);
  try {
    const Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (descriptor.get() < 0) throw cannot("write", file, errno);
    write_all(descriptor.get(), contents, file);
    if (::fsync(descriptor.get()) != 0) throw cannot("write", file, errno);
    if (::rename(temporary.c_str(), file.c_str()) != 0) throw cannot("write", file, errno);
  } catch (const Error&) {
    ::unlink(temporary.c_str());  // half a file is of no use, and on a full disk in the way
    throw;
  }
  sync_folder(file.parent_path().empty() ? fs::path(".") : file.parent_path());
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) throw system_error(fmt::format("read {}", file.string()));
  return text;
}

RunFolder RunFolder::create(const fs::path& store, RunInfo info, WallClock::time_point now) {
  const bool plain = !info.name.empty() && info.name != "." && info.name != ".." && info.name != "latest" &&
                     info.name != "current" && info.name.find('/') == std::string::npos;
  if (!plain) throw UsageError(fmt::format("cannot name a run \"{}\"; choose a plain word with --name", info.name));
  create_folders(store / info.name);
  if (info.started.empty()) info.started = format_time(now, "%Y-%m-%dT%H:%M:%S") + "Z";
  fs::path path = create_unique(store / info.name, now);
  RunFolder folder(std::move(path), std::move(info));
  folder.update(folder.info_);
  sync_folder(store / folder.info_.name);
  point(store / "current", fs::path(folder.info_.name) / folder.path_.filename());
  return folder;
}

void RunFolder::update(RunInfo info) {
  info_ = std::move(info);
  write("test.json", to_json(info_).dump(2, ' ', false, Value::error_handler_t::replace) + "\n");
}

void RunFolder::write(std::string_view file, std::string_view contents) const {
  write_file(path_ / file, contents);
}

void RunFolder::history_closed() const {
  const fs::path named = path_.parent_path();
  point(named / "latest", path_.filename());
  point(named.parent_path() / "latest", named.filename() / path_.filename());
}

fs::path resolve_run(const fs::path& store, const std::string& what) {
  const auto run_at = [](const fs::path& path) -> std::optional<fs::path> {
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      for (fs::path folder = path.parent_path();; folder = folder.parent_path()) {
        if (is_run(folder)) return folder.empty() ? fs::path(".") : folder;
        if (folder == folder.parent_path()) return std::nullopt;
      }
    }
    if (!is_run(path)) return std::nullopt;
    // What `latest` points to now, not what it will point to while the user reads the answer.
    if (fs::is_symlink(path, error)) return (path.parent_path() / fs::read_symlink(path)).lexically_normal();
    return path;
  };
  if (!what.empty()) {
    for (const fs::path& path : {store / what, fs::path(what), store / what / "latest"}) {
      if (const auto found = run_at(path)) return *found;
    }
  }
  throw UsageError(fmt::format("no run \"{}\": looked for {} and {}; `ls -d {}/*/*` lists what there is", what,
                               (store / what).string(), (fs::current_path() / what).string(), store.string()));
}

std::vector<fs::path> list_runs(const fs::path& store) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (const auto& named : fs::directory_iterator(store, error)) {
    if (named.is_symlink() || !named.is_directory(error)) continue;
    for (const auto& run : fs::directory_iterator(named.path(), error)) {
      if (!run.is_symlink() && is_run(run.path())) runs.push_back(run.path());
    }
  }
  // Folder names are times: the greatest is the newest. Equal ones are told apart by the name of the run.
  std::sort(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(b.filename(), a) < std::pair(a.filename(), b);
  });
  return runs;
}

}  // namespace holdfast
