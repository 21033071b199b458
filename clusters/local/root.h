// The file system of a local node: its own /etc, /tmp, /run, /var, /root, /dev, /proc and /data in memory, the
// machine's programs (/usr) read-only, and nothing else of the machine.
#pragma once

#include <string>

namespace holdfast {

struct RootOptions {
  std::string hostname;
  std::string hosts;           // contents of /etc/hosts
  std::string program_folder;  // shown read-only as kProgramFolder
  bool in_user_namespace = false;
};

inline constexpr const char* kDataFolder = "/data";
inline constexpr const char* kProgramFolder = "/holdfast";

// Makes it the root of the calling process. Call in fresh mount, PID and network namespaces, as PID 1 of them.
void enter_composite_root(const RootOptions& options);

}  // namespace holdfast
