#include "harness/formats/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace holdfast::formats {

Window::Window(std::unique_ptr<ByteSource> source, std::size_t size)
    : source_(std::move(source)),
      buffer_(std::make_unique_for_overwrite<char[]>(size + kReadableBehind)),
      data_(buffer_.get()),
      capacity_(size) {}

bool Window::grow() {
  if (ended_) return false;
  first_ = place(begin());
  event_ = nullptr;
  const std::size_t kept = to_ - from_;
  if (kept * 2 > capacity_) {
    if (kept >= kLongestEvent) throw Complaint("one event is longer than 1 GiB; is this file a history?");
    auto wider = std::make_unique_for_overwrite<char[]>(capacity_ * 2 + kReadableBehind);
    std::memcpy(wider.get(), begin(), kept);
    buffer_ = std::move(wider);
    capacity_ *= 2;
  } else if (kept > 0) {
    std::memmove(buffer_.get(), begin(), kept);
  }
  data_ = buffer_.get();
  from_ = 0;
  to_ = kept;
  std::size_t more = 0;
  try {
    more = source_->read(data_ + to_, capacity_ - to_);
  } catch (const Complaint& complaint) {
    throw Complaint(complaint.what(), end());
  }
  to_ += more;
  std::memset(data_ + to_, 0, kReadableBehind);
  ended_ = more == 0;
  return more > 0;
}

bool Window::next_line(Line& line) {
  std::size_t searched = 0;
  while (true) {
    const std::string_view text = rest();
    const void* const newline =
        text.size() == searched ? nullptr : std::memchr(text.data() + searched, '\n', text.size() - searched);
    if (newline != nullptr) {
      const char* const stop = static_cast<const char*>(newline);
      line = {.text = {text.data(), static_cast<std::size_t>(stop - text.data())}, .terminated = true};
      go_to(stop + 1);
      return true;
    }
    searched = text.size();
    if (grow()) continue;
    line = {.text = rest(), .terminated = false};  // grow() may have moved it
    go_to(end());
    return !line.text.empty();
  }
}

void Window::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  while (rest().size() < kMark.size() && grow()) {
  }
  if (!rest().starts_with(kMark)) return;
  data_ = data_ + from_ + kMark.size();
  to_ -= from_ + kMark.size();
  capacity_ -= from_ + kMark.size();
  from_ = 0;
}

Window::Place Window::place(const char* at) const {
  Place place = first_;
  const char* line_start = data_;
  const auto lines = std::count(static_cast<const char*>(data_), at, '\n');
  if (lines > 0) {
    place.line += static_cast<std::uint64_t>(lines);
    place.column = 1;
    line_start = at;
    while (line_start[-1] != '\n') --line_start;
  }
  place.column += static_cast<std::uint64_t>(at - line_start);
  return place;
}

}  // namespace holdfast::formats
