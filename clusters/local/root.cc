#include "clusters/local/root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "harness/error.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

// Any folder that is surely there; it is covered in this mount namespace only.
constexpr const char* kBase = "/mnt";

void mount_or_throw(const std::string& what, const std::string& where, const char* type, unsigned long flags,
                    const std::string& data) {
  if (::mount(what.c_str(), where.c_str(), type, flags, data.empty() ? nullptr : data.c_str()) != 0) {
    throw system_error(fmt::format("mount {} on {}", type == nullptr ? what : type, where));
  }
}

void bind(const std::string& what, const std::string& where) {
  mount_or_throw(what, where, nullptr, MS_BIND | MS_REC, {});
}

// mount_setattr(2) adds the flag and keeps those that a user namespace may not clear; a remount would have to know
// them.
void make_read_only(const std::string& where) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, where.c_str(), AT_RECURSIVE, &attributes, sizeof attributes) != 0) {
    throw system_error(fmt::format("make {} read-only", where));
  }
}

void bind_read_only(const std::string& what, const std::string& where) {
  fs::create_directories(where);
  bind(what, where);
  make_read_only(where);
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw Error(fmt::format("cannot write {}", file));
}

void make_programs(const std::string& root, const std::string& program_folder) {
  bind_read_only("/usr", root + "/usr");
  for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
    const std::string original = fmt::format("/{}", name);
    if (fs::is_symlink(original)) {
      fs::copy_symlink(original, root + original);
    } else if (fs::is_directory(original)) {
      bind_read_only(original, root + original);
    }
  }
  if (fs::is_directory("/opt")) bind_read_only("/opt", root + "/opt");
  bind_read_only(program_folder, root + kProgramFolder);
}

// The machine's /etc with a layer of the node's own on top: servers find their defaults, and what they change stays
// here.
void make_etc(const std::string& root, const RootOptions& options) {
  const std::string layer = root + "/.etc";
  for (const char* name : {"/upper", "/work"}) fs::create_directories(layer + name);
  fs::create_directories(root + "/etc");
  write_text(layer + "/upper/hostname", options.hostname + "\n");
  write_text(layer + "/upper/hosts", options.hosts);
  write_text(layer + "/upper/resolv.conf", "");
  // root has a plain shell: what a real user's shell does at start (bash with a long ~/.bashrc) costs 0.3 s a command.
  write_text(layer + "/upper/passwd",
             "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  write_text(layer + "/upper/shadow", "root:*:19000:0:99999:7:::\n");
  mount_or_throw("overlay", root + "/etc", "overlay", 0,
                 fmt::format("lowerdir=/etc,upperdir={0}/upper,workdir={0}/work{1}", layer,
                             options.in_user_namespace ? ",userxattr" : ""));
}

void make_devices(const std::string& root) {
  fs::create_directories(root + "/dev/pts");
  fs::create_directories(root + "/dev/shm");
  fs::permissions(root + "/dev/shm", fs::perms::all | fs::perms::sticky_bit);
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const std::string device = fmt::format("/dev/{}", name);
    write_text(root + device, "");
    bind(device, root + device);
  }
  mount_or_throw("devpts", root + "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
  fs::create_symlink("pts/ptmx", root + "/dev/ptmx");
  fs::create_symlink("/proc/self/fd", root + "/dev/fd");
  fs::create_symlink("/proc/self/fd/0", root + "/dev/stdin");
  fs::create_symlink("/proc/self/fd/1", root + "/dev/stdout");
  fs::create_symlink("/proc/self/fd/2", root + "/dev/stderr");
}

void make_folders(const std::string& root) {
  for (const char* name :
       {"/var/log", "/var/lib", "/var/cache", "/var/empty", "/run/sshd", "/root", "/home", "/data"}) {
    fs::create_directories(root + name);
  }
  fs::permissions(root + "/root", fs::perms::owner_all);
  for (const char* name : {"/tmp", "/var/tmp"}) {
    fs::create_directories(root + name);
    fs::permissions(root + name, fs::perms::all | fs::perms::sticky_bit);
  }
  fs::create_symlink("/run", root + "/var/run");
}

}  // namespace

void enter_composite_root(const RootOptions& options) {
  mount_or_throw("none", "/", nullptr, MS_REC | MS_PRIVATE, {});
  // Held open, because the folder may lie below what is covered next.
  const int programs = ::open(options.program_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (programs < 0) {
    throw system_error(
        fmt::format("this user cannot open {}, where Holdfast's programs are; make the folders above it "
                    "readable, or build in another place",
                    options.program_folder));
  }
  const std::string root = kBase;
  mount_or_throw("holdfast", root, "tmpfs", MS_NOSUID, "mode=0755");
  make_folders(root);
  make_programs(root, fmt::format("/proc/self/fd/{}", programs));
  ::close(programs);
  make_etc(root, options);
  make_devices(root);
  for (const char* name : {"/proc", "/sys"}) fs::create_directories(root + name);
  mount_or_throw("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, {});
  mount_or_throw("sysfs", root + "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, {});
  if (::chdir(root.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) throw system_error("pivot_root");
  // The old root lies on top of the new one at the same place; taking it off leaves nothing of the machine in sight.
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) throw system_error("leave the old root");
}

}  // namespace holdfast
