#include "harness/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/error.h"

namespace holdfast {

Recorder::Recorder(const std::filesystem::path& file)
    : began_(std::chrono::steady_clock::now()),
      file_(file),
      descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw UsageError(system_error("cannot create history " + file.string()).what());
  syncer_ = std::jthread([this](const std::stop_token& stop) { sync_now_and_then(stop); });
}

Recorder::~Recorder() {
  try {
    close();
  } catch (const Error&) {
    // The caller who cares calls close() himself and hears of it there.
  }
}

void Recorder::append(Event& event) {
  const std::lock_guard lock(mutex_);
  event.index = index_++;
  event.time = now();  // under the lock: order in the file is order in time
  append_json_line(batch_, event);
  batch_ += '\n';
}

void Recorder::flush() {
  const std::lock_guard writer(write_mutex_);
  if (writing_.empty()) {
    const std::lock_guard lock(mutex_);
    std::swap(batch_, writing_);
  }
  std::size_t done = 0;
  while (done < writing_.size()) {
    const ssize_t count = ::write(descriptor_, writing_.data() + done, writing_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const Error error = system_error("cannot write history " + file_.string());
      writing_.erase(0, done);
      throw Error(error);
    }
    done += static_cast<std::size_t>(count);
  }
  writing_.clear();
}

void Recorder::close() {
  if (syncer_.joinable()) {
    syncer_.request_stop();
    syncer_.join();
  }
  if (descriptor_ < 0) return;
  flush();
  flush();  // what a failed flush had kept back comes first, then the rest
  const int descriptor = std::exchange(descriptor_, -1);
  const bool synced = ::fsync(descriptor) == 0;
  if (::close(descriptor) != 0 || !synced) throw system_error("cannot sync history " + file_.string());
}

Time Recorder::now() const {
  return std::chrono::steady_clock::now() - began_;
}

std::uint64_t Recorder::size() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

void Recorder::sync_now_and_then(const std::stop_token& stop) {
  std::unique_lock lock(sync_mutex_);
  while (!wake_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) && !stop.stop_requested()) {
    ::fdatasync(descriptor_);
  }
}

}  // namespace holdfast
