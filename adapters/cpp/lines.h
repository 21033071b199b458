// Lines over plain descriptors: read(2) and write(2) with buffers of our own, because a stream would add a copy and a
// lock to every line.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

inline constexpr std::size_t kLineLimit = std::size_t{1} << 20U;  // of one line; the protocol's, both ways

// Collects bytes into lines. One thread.
class LineBuffer {
 public:
  std::optional<std::string_view> next();  // without the newline; valid until the next fill()
  // One read(2). The bytes read; 0: the end; -1: see errno, where EMSGSIZE is a line beyond the limit.
  std::ptrdiff_t fill(int descriptor);
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(start_, end_ - start_); }

 private:
  std::string buffer_;
  std::size_t start_ = 0;    // first byte not handed out
  std::size_t scanned_ = 0;  // no newline before this
  std::size_t end_ = 0;      // behind the last byte that was read
};

// Writes all of it, also to a descriptor that somebody made non-blocking. False: the other end is gone or, for a
// descriptor with a deadline, it did not take it in time; see errno.
bool write_all(int descriptor, std::string_view text,
               std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());

}  // namespace holdfast
