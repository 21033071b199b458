#include "harness/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <mutex>

#include "harness/error.h"
#include "harness/event.h"

namespace holdfast {

namespace {

struct Log {
  std::mutex mutex;
  std::ofstream file;
  bool verbose = false;
};

Log& the_log() {
  static Log log;
  return log;
}

constexpr std::array<std::string_view, 3> kLevels = {"info", "warning", "error"};

}  // namespace

void open_log(const std::filesystem::path& file) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.file = std::ofstream(file, std::ios::app);
  if (!log.file) throw UsageError(system_error("cannot create " + file.string()).what());
}

void close_log() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.file.close();
}

void set_verbose(bool verbose) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.verbose = verbose;
}

void log(LogLevel level, std::string_view node, std::string_view message) {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  const std::string_view name = kLevels.at(static_cast<std::size_t>(level));
  std::string line = fmt::format(R"({{"time":"{:%Y-%m-%dT%H:%M:%S}.{:03}Z","level":"{}")",
                                 fmt::gmtime(std::chrono::system_clock::to_time_t(now)), milliseconds, name);
  if (!node.empty()) {
    line += R"(,"node":)";
    append_json_text(line, node);
  }
  line += R"(,"message":)";
  append_json_text(line, message);
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  if (log.file.is_open()) log.file << line << "}\n" << std::flush;  // a killed controller must not lose it
  if (log.verbose) fmt::print(stderr, "{} {}{}{}\n", name, node, node.empty() ? "" : ": ", message);
}

}  // namespace holdfast
