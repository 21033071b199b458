// The run's own log: one JSON object per line in holdfast.log, and nothing on the terminal unless asked for.
//
//   {"time":"2026-11-18T10:00:00.123Z","level":"warning","node":"c2","message":"client exited: signal 9 (Killed)"}
//
// Thread-safe. Losing a line of it never stops a run: the history is what counts.
#pragma once

#include <filesystem>
#include <string_view>

namespace holdfast {

enum class LogLevel { info, warning, error };

void open_log(const std::filesystem::path& file);  // from now on; UsageError when it cannot be made
void close_log();
void set_verbose(bool verbose);  // also to standard error, as plain text

void log(LogLevel level, std::string_view node, std::string_view message);  // node may be empty

}  // namespace holdfast
