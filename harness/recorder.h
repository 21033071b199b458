// Recorder: the append-only journal history.jsonl.
//
// Promise: an operation's invocation is in the file before the request leaves the controller, and what is in the
// file stays there however the controller dies (write(2) puts it into the page cache, which outlives the process).
// So a killed controller loses at most completions it had read but not yet written, and an operation without a
// completion is what it should be: unknown. Against power loss of the controller's own machine the file is synced
// once a second and at the end.
//
// Thread-safe. Lines are collected by append() and written by flush(), one write(2) for a batch: the runner flushes
// once per turn of its loop, before it sends what it decided in that turn.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "harness/event.h"

namespace holdfast {

class Recorder {
 public:
  explicit Recorder(const std::filesystem::path& file);  // creates it; UsageError when it cannot
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();  // flushes and closes, quietly

  // Gives the event its index and its time and puts it into the batch.
  void append(Event& event);
  void flush();  // throws Error when the disk is full; the batch is kept and can be flushed again
  void close();  // flush, sync, close; throws

  [[nodiscard]] Time now() const;  // since the run began
  [[nodiscard]] std::uint64_t size() const;

 private:
  void sync_now_and_then(const std::stop_token& stop);

  const std::chrono::steady_clock::time_point began_;
  const std::filesystem::path file_;
  int descriptor_;
  mutable std::mutex mutex_;  // batch_, index_
  std::mutex write_mutex_;    // one writer at a time, so that batches stay in order
  std::string batch_;
  std::string writing_;
  std::uint64_t index_ = 0;
  std::condition_variable_any wake_;
  std::mutex sync_mutex_;
  std::jthread syncer_;
};

}  // namespace holdfast
