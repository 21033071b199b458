// The readers of recorded histories: history.jsonl, Jepsen's EDN and Jepsen's log, plain or packed with gz, each from
// front to back in a window of about 1 MiB.
//
// Pairing: an invoke opens the operation of its process, the next ok, fail or info of that process closes it. A file
// that was cut in its last event is read up to there and says so (RecordedHistory::truncated); anything else that is
// wrong is a UsageError: "FILE line L column C: what; how to fix".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/formats/builder.h"
#include "harness/formats/recorded.h"
#include "harness/formats/window.h"

namespace holdfast::formats {

struct ReadOptions {
  std::optional<Format> format;         // none: detected by content
  bool tuple_keys = false;              // the value of an operation without a key is [key value] (jepsen.independent)
  std::size_t window = Window::kUsual;  // bytes to begin with; it grows with the longest event
};

RecordedHistory read_recorded(const std::filesystem::path& file, const ReadOptions& options = {});
// The same for bytes in memory; `name` is for complaints.
RecordedHistory read_recorded_text(std::string_view bytes, const std::string& name, const ReadOptions& options = {});

// What they are made of. All leave the window at its end, and throw Complaint.
Format detect_format(Window& window);
void read_jsonl(Window& window, HistoryBuilder& builder);
void read_edn(Window& window, HistoryBuilder& builder);
void read_jepsen_log(Window& window, HistoryBuilder& builder);

}  // namespace holdfast::formats
