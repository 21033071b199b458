// Window: a text that is read from front to back, of which only a part is in memory: a file, a pipe, what a gz file
// unpacks to, or bytes that are already there. Read with read(2) into one buffer that stays in the cache: as fast as a
// mapped file, and neither a pipe nor a file that shrinks meanwhile needs a case of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::formats {

// What is wrong with a text, and where: read_recorded() turns it into "FILE line L column C: what; how to fix".
class Complaint : public std::runtime_error {
 public:
  explicit Complaint(const std::string& message, const char* at = nullptr) : std::runtime_error(message), at_(at) {}
  // Into the window; null: at the event that was being read.
  [[nodiscard]] const char* at() const { return at_; }

 private:
  const char* at_;
};

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  virtual std::size_t read(char* to, std::size_t room) = 0;  // 0: the end; throws Complaint
  [[nodiscard]] virtual bool cut() const { return false; }   // it ended, but not where its writer had meant it to
};

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& file);  // throws UsageError
std::unique_ptr<ByteSource> from_memory(std::string_view bytes);           // which must outlive it
std::unique_ptr<ByteSource> unpack_gz(std::unique_ptr<ByteSource> packed);

class Window {
 public:
  static constexpr std::size_t kReadableBehind = 64;  // bytes behind the text that may be looked at (simdjson does)
  static constexpr std::size_t kUsual = std::size_t{1} << 20U;
  static constexpr std::size_t kLongestEvent = std::size_t{1} << 30U;

  explicit Window(std::unique_ptr<ByteSource> source, std::size_t size = kUsual);

  [[nodiscard]] const char* begin() const { return data_ + from_; }
  [[nodiscard]] const char* end() const { return data_ + to_; }
  [[nodiscard]] std::string_view rest() const { return {begin(), to_ - from_}; }
  void go_to(const char* next) { from_ = static_cast<std::size_t>(next - data_); }
  // Where the event that is being read begins: complaints without a place of their own point there.
  void set_event(const char* at) { event_ = at; }
  [[nodiscard]] const char* event() const { return event_ == nullptr ? begin() : event_; }
  // Reads more behind rest(); all pointers into the window change. False: there is nothing more.
  bool grow();
  [[nodiscard]] bool ended() const { return ended_; }  // what is in the window is the rest of the text
  [[nodiscard]] bool cut() const { return source_->cut(); }

  struct Line {
    std::string_view text;    // without its end
    bool terminated = false;  // by a newline
  };
  bool next_line(Line& line);  // false: there is none. The window goes to the next line.

  void skip_byte_order_mark();
  struct Place {
    std::uint64_t line = 1;
    std::uint64_t column = 1;  // counted in bytes
  };
  [[nodiscard]] Place place(const char* at) const;

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  char* data_ = nullptr;
  std::size_t capacity_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
  bool ended_ = false;
  Place first_;                  // of data_
  const char* event_ = nullptr;  // null: at begin()
};

}  // namespace holdfast::formats
