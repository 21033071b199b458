#include "clusters/ssh/transfer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libssh/libssh.h>
#include <libssh/sftp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kStall{30};
constexpr std::size_t kChunk = std::size_t{1} << 17U;  // OpenSSH takes messages of up to 256 KiB
constexpr unsigned kPermissions = 07777;

// libssh's SFTP works on a blocking session only and then waits for ever on a host that hangs. Shutting the socket down
// is the one thing that may be done to a session from another thread; the copy of the descriptor makes sure that it
// is this socket, whatever libssh closes in the meantime.
class Watchdog {
 public:
  explicit Watchdog(int descriptor)
      : descriptor_(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)),
        last_(steady_clock::now()),
        thread_([this](const std::stop_token& stop) { watch(stop); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    thread_.request_stop();
    thread_.join();
    close(descriptor_);
  }
  void progress() { last_ = steady_clock::now(); }
  [[nodiscard]] bool bit() const { return bit_; }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const steady_clock::time_point until = last_.load() + kStall;
      if (steady_clock::now() >= until) {
        bit_ = true;
        shutdown(descriptor_, SHUT_RDWR);
        return;
      }
      wake_.wait_until(lock, stop, until, [] { return false; });
    }
  }

  int descriptor_;
  std::atomic<steady_clock::time_point> last_;
  std::atomic<bool> bit_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

std::string sftp_reason(sftp_session sftp, const Session& session) {
  switch (sftp_get_error(sftp)) {
    case SSH_FX_NO_SUCH_FILE:
    case SSH_FX_NO_SUCH_PATH:
      return "no such file or folder";
    case SSH_FX_PERMISSION_DENIED:
      return "permission denied";
    case SSH_FX_FAILURE:
      return "failure (disk full, a folder in its place, or a file system without write access)";
    case SSH_FX_NO_CONNECTION:
    case SSH_FX_CONNECTION_LOST:
      return "connection lost";
    default:
      return session.last_error();
  }
}

class Transfer {
 public:
  Transfer(Session& session, std::string what) : session_(session), what_(std::move(what)) {
    if (!session_.connected()) session_.connect_patiently(steady_clock::now() + 2 * session_.connect_limit());
    begin();
    if (sftp_ == nullptr) {  // the session had died unnoticed
      session_.connect_patiently(steady_clock::now() + 2 * session_.connect_limit());
      begin();
    }
    if (sftp_ == nullptr)
      throw session_.failure(what_ + ": no SFTP; add \"Subsystem sftp internal-sftp\" to the host's sshd_config");
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (file_ != nullptr) sftp_close(file_);
    if (sftp_ != nullptr) sftp_free(sftp_);
    ssh_set_blocking(session_.native(), 0);
  }

  void open(const std::string& path, int flags) {
    file_ = sftp_open(sftp_, path.c_str(), flags, 0600);
    if (file_ == nullptr) fail();
  }
  void write(const char* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t written = sftp_write(file_, bytes, count);
      if (written <= 0) fail();
      bytes += written;
      count -= static_cast<std::size_t>(written);
      watchdog_->progress();
    }
  }
  std::size_t read(char* bytes, std::size_t count) {
    const ssize_t got = sftp_read(file_, bytes, count);
    if (got < 0) fail();
    watchdog_->progress();
    return static_cast<std::size_t>(got);
  }
  unsigned permissions() {
    sftp_attributes attributes = sftp_fstat(file_);
    if (attributes == nullptr) fail();
    const unsigned mode = attributes->permissions & kPermissions;
    const bool folder = attributes->type == SSH_FILEXFER_TYPE_DIRECTORY;
    sftp_attributes_free(attributes);
    if (folder) throw Error(fmt::format("{}: {}: it is a folder", session_.host(), what_));
    return mode;
  }
  void close_file() {
    sftp_file file = std::exchange(file_, nullptr);
    if (sftp_close(file) != SSH_NO_ERROR) fail();
  }
  void put_in_place(const std::string& part, const std::string& name, unsigned mode) {
    if (sftp_chmod(sftp_, part.c_str(), mode) != SSH_OK) fail();
    if (sftp_rename(sftp_, part.c_str(), name.c_str()) == SSH_OK) return;
    // A server without posix-rename does not replace a file.
    (void)sftp_unlink(sftp_, name.c_str());
    if (sftp_rename(sftp_, part.c_str(), name.c_str()) != SSH_OK) fail();
  }

 private:
  void begin() {
    watchdog_ = std::make_unique<Watchdog>(ssh_get_fd(session_.native()));
    ssh_set_blocking(session_.native(), 1);
    sftp_ = sftp_new(session_.native());
    if (sftp_ != nullptr && sftp_init(sftp_) == SSH_OK) return;
    if (sftp_ != nullptr) sftp_free(sftp_);
    sftp_ = nullptr;
  }
  [[noreturn]] void fail() {
    if (watchdog_->bit()) {
      throw Error(fmt::format("{}: {}: no progress for {} s; the host hangs or is cut off", session_.host(), what_,
                              kStall.count()));
    }
    throw Error(fmt::format("{}: {}: {}", session_.host(), what_, sftp_reason(sftp_, session_)));
  }

  Session& session_;
  std::string what_;
  std::unique_ptr<Watchdog> watchdog_;
  sftp_session sftp_ = nullptr;
  sftp_file file_ = nullptr;
};

class OurFile {
 public:
  OurFile(const std::filesystem::path& path, int flags)
      : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw system_error("open " + path.string());
  }
  OurFile(const OurFile&) = delete;
  OurFile& operator=(const OurFile&) = delete;
  ~OurFile() { close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  std::size_t read(char* bytes, std::size_t count) const {
    const ssize_t got = ::read(descriptor_, bytes, count);
    if (got < 0) throw system_error("read " + path_.string());
    return static_cast<std::size_t>(got);
  }
  void write(const char* bytes, std::size_t count) const {
    while (count > 0) {
      const ssize_t written = ::write(descriptor_, bytes, count);
      if (written < 0) throw system_error("write " + path_.string());
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace

void upload_file(Session& session, const std::filesystem::path& ours, const std::string& theirs) {
  const OurFile file(ours, O_RDONLY);
  struct stat status{};
  if (fstat(file.descriptor(), &status) != 0) throw system_error("stat " + ours.string());
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("upload {}: not a file", ours.string()));
  Transfer transfer(session, fmt::format("upload to {}", theirs));
  const std::string part = theirs + ".part";
  transfer.open(part, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<char> buffer(kChunk);
  while (const std::size_t got = file.read(buffer.data(), buffer.size())) transfer.write(buffer.data(), got);
  transfer.close_file();
  transfer.put_in_place(part, theirs, status.st_mode & kPermissions);
}

void download_file(Session& session, const std::string& theirs, const std::filesystem::path& ours) {
  Transfer transfer(session, fmt::format("download {}", theirs));
  transfer.open(theirs, O_RDONLY);
  const unsigned mode = transfer.permissions();
  const std::filesystem::path part = ours.string() + ".part";
  const OurFile file(part, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<char> buffer(kChunk);
  while (const std::size_t got = transfer.read(buffer.data(), buffer.size())) file.write(buffer.data(), got);
  if (fchmod(file.descriptor(), mode) != 0) throw system_error("chmod " + part.string());
  std::filesystem::rename(part, ours);
}

}  // namespace holdfast
