// Where the bytes of a Window come from.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "harness/error.h"
#include "harness/formats/window.h"

namespace holdfast::formats {

namespace {

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file_(file) {
    if (descriptor_ < 0) {
      const bool missing = errno == ENOENT || errno == ENOTDIR;
      throw UsageError(fmt::format("cannot read {}: {}", file.string(),
                                   missing ? "there is no such file; check the path"
                                           : fmt::format("{}; check its permissions", std::strerror(errno))));
    }
    struct stat about{};
    if (::fstat(descriptor_, &about) == 0 && S_ISDIR(about.st_mode)) {
      ::close(descriptor_);
      throw UsageError(fmt::format("cannot read {}: it is a folder; name the history in it", file.string()));
    }
    // Only advice: a pipe has no use for it.
    static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  std::size_t read(char* to, std::size_t room) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, to, room);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) {
        throw UsageError(
            fmt::format("cannot read {}: {}; copy it to a disk that works", file_.string(), std::strerror(errno)));
      }
    }
  }

 private:
  int descriptor_;
  std::filesystem::path file_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(char* to, std::size_t room) override {
    const std::size_t count = std::min(room, bytes_.size());
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

// One gz member after the other, as gzip itself reads them; zeros behind the last one are padding.
class GzSource : public ByteSource {
 public:
  explicit GzSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)), input_(kInput) {
    constexpr int kGzipOnly = 16;
    HOLDFAST_CHECK(inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "out of memory");
  }
  GzSource(const GzSource&) = delete;
  GzSource& operator=(const GzSource&) = delete;
  ~GzSource() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t room) override {
    room = std::min<std::size_t>(room, std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && !over_) {
      if (!damage_.empty()) throw Complaint(damage_);
      if (stream_.avail_in == 0 && !refill()) {
        if (!between_) advance();  // zlib may still hold back what did not fit the last time
        over_ = stream_.avail_out == room && damage_.empty();
        cut_ = over_ && !between_;
      } else if (between_) {
        begin_member();
      } else {
        advance();
      }
    }
    return room - stream_.avail_out;
  }
  [[nodiscard]] bool cut() const override { return cut_; }

 private:
  static constexpr std::size_t kInput = std::size_t{1} << 16U;

  bool refill() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(packed_->read(input_.data(), input_.size()));
    return stream_.avail_in > 0;
  }

  void begin_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return;
    constexpr Bytef kMagic = 0x1F;
    if (*stream_.next_in != kMagic)
      throw Complaint("the gz data ends here, but the file goes on with something else; pack it again with gzip");
    inflateReset(&stream_);
    between_ = false;
  }

  void advance() {
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between_ = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      // What came out before it is still good.
      damage_ = fmt::format("the gz data is damaged from here on ({}); pack the history again with gzip",
                            stream_.msg == nullptr ? "not in gz format" : stream_.msg);
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  std::string damage_;
  bool between_ = false;  // two members: what comes next is the header of one, or the end
  bool over_ = false;
  bool cut_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& file) {
  return std::make_unique<FileSource>(file);
}

std::unique_ptr<ByteSource> from_memory(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

std::unique_ptr<ByteSource> unpack_gz(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<GzSource>(std::move(packed));
}

}  // namespace holdfast::formats
