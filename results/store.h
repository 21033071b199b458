// The store: one folder per run, store/<name>/<YYYYMMDDTHHMMSS.mmm>/, and the ways to find it again.
//
// Nothing is ever deleted. Every file is written under a temporary name, synced and renamed, so that a crash leaves
// the old file or the new one, never half of one; history.jsonl alone is appended to live, by the Recorder.
// store/current moves when a run starts, store/latest and store/<name>/latest only once its history is closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/event.h"

namespace holdfast {

// test.json: everything about a run that its history does not tell.
struct RunInfo {
  std::string name;                 // its folder in the store: "redis-setpx-lua-lock-pause"
  std::string system;               // "redis-setpx-lua"
  std::string workload;             // "lock"
  std::vector<std::string> faults;  // plans: "pause:holder@reading"; empty: none
  std::vector<std::string> argv;    // the command that makes this very run, without the program: {"run", "L05", …}
  std::uint64_t seed = 0;
  Value versions = Value::object();  // {"holdfast":"0.1.0","redis":"7.0.15"}
  std::string revision;              // git revision; empty: not known
  std::vector<std::string> nodes;
  std::string started;  // wall clock, ISO 8601 with milliseconds, UTC; create() fills it in when empty
  Value options = Value::object();
};
Value to_json(const RunInfo& info);
RunInfo run_info_from_json(const Value& json);            // throws Error that names the field
RunInfo read_run_info(const std::filesystem::path& run);  // of a run folder; UsageError when there is none

// "./holdfast run L05 --seed 7": argv with the seed put in when the user left it to chance, quoted for a shell.
std::string repeat_command(const RunInfo& info);

// Writes `contents` beside `file`, syncs, renames. UsageError when the place cannot be written, with --store as the
// fix.
void write_file(const std::filesystem::path& file, std::string_view contents);
std::string read_file(const std::filesystem::path& file);  // throws Error

class RunFolder {
 public:
  using WallClock = std::chrono::system_clock;

  // Creates the folder, writes test.json and points store/current at it. Two runs that start in the same millisecond
  // get two folders. UsageError in one line when the store cannot be written.
  static RunFolder create(const std::filesystem::path& store, RunInfo info,
                          WallClock::time_point now = WallClock::now());

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path history_file() const { return path_ / "history.jsonl"; }
  [[nodiscard]] const RunInfo& info() const { return info_; }

  void update(RunInfo info);  // writes test.json again: versions are known late
  void write(std::string_view file, std::string_view contents) const;  // "results.json", "report.html", …
  void history_closed() const;                                         // moves store/latest and store/<name>/latest

 private:
  RunFolder(std::filesystem::path path, RunInfo info) : path_(std::move(path)), info_(std::move(info)) {}

  std::filesystem::path path_;  // store/<name>/<time>, relative when the store was given relative
  RunInfo info_;
};

// "latest", "current", a run's folder, a file inside one, "<name>" (its latest run) or "<name>/<time>" -> the run's
// folder. UsageError that says what was looked for where, and how to list the runs there are.
std::filesystem::path resolve_run(const std::filesystem::path& store, const std::string& what);

// Every run folder in the store, newest first.
std::vector<std::filesystem::path> list_runs(const std::filesystem::path& store);

}  // namespace holdfast
