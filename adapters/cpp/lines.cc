#include "adapters/cpp/lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "adapters/cpp/address.h"

namespace holdfast {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10U;

}  // namespace

std::optional<std::string_view> LineBuffer::next() {
  const void* const newline = std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_);
  if (newline == nullptr) {
    scanned_ = end_;
    return std::nullopt;
  }
  const auto position = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
  const std::string_view line(buffer_.data() + start_, position - start_);
  start_ = scanned_ = position + 1;
  return line;
}

std::ptrdiff_t LineBuffer::fill(int descriptor) {
  if (end_ - start_ > kLineLimit) {
    errno = EMSGSIZE;
    return -1;
  }
  if (start_ == end_) {
    start_ = scanned_ = end_ = 0;
  } else if (start_ > 0 && buffer_.size() - end_ < kReadSize) {
    std::memmove(buffer_.data(), buffer_.data() + start_, end_ - start_);
    scanned_ -= start_;
    end_ -= start_;
    start_ = 0;
  }
  if (buffer_.size() - end_ < kReadSize) buffer_.resize(end_ + kReadSize);
  const ssize_t count = read(descriptor, buffer_.data() + end_, kReadSize);
  if (count > 0) end_ += static_cast<std::size_t>(count);
  return count;
}

bool write_all(int descriptor, std::string_view text, std::chrono::steady_clock::time_point deadline) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor, POLLOUT, deadline)) {
        errno = ETIMEDOUT;
        return false;
      }
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace holdfast
