// Processes on a host: daemons, which outlive the connection, and client processes, which talk to us through it.
//
// Both are leaders of a process group and are signalled through the node's control line. Every SIGSTOP leaves a
// dead-man on the host that sends SIGCONT when the controller is no longer heard of.
#pragma once

#include <memory>
#include <string>

#include "clusters/ssh/control.h"
#include "harness/node.h"

namespace holdfast {

// Where the processes of one node live. `folder` is the node's folder on the host: it keeps a list of the process
// groups, by which the host itself can end them.
struct SshPlace {
  std::shared_ptr<Control> control;
  SessionOptions session;
  std::string folder;
};

std::unique_ptr<NodeProcess> spawn_over_ssh(const SshPlace& place, const Command& command,
                                            const std::string& error_log);
std::unique_ptr<NodeProcess> start_daemon_over_ssh(const SshPlace& place, const Command& command,
                                                   const std::string& log);

// A shell command that kills every group on the list of the folder in the variable `folder`. A number that now belongs
// to another process, as its start time shows, is left alone.
std::string kill_listed_groups();

}  // namespace holdfast
