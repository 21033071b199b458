// What the faults of a disk have in common: a primary, its disk, and its return to service.
#pragma once

#include <functional>
#include <memory>

#include "harness/disk.h"
#include "harness/fault.h"

namespace holdfast {

// The server of a node and the disk under it.
class DiskTarget {
 public:
  DiskTarget(Server& server, Node& node) : server_(&server), node_(&node) {}
  [[nodiscard]] Value description() const { return {{"node", node_->name()}, {"server", true}}; }
  [[nodiscard]] NodeDisk& disk() const { return node_->disk(); }
  [[nodiscard]] Node& node() const { return *node_; }
  [[nodiscard]] bool answers() const { return server_->ready(*node_); }
  void kill_server() const { server_->kill(*node_); }
  // Starts the server if it is down; whether the disk takes writes and the server answers.
  [[nodiscard]] Effect back_in_service() const;
  // What writing a little ends with, beside whether that is what it should.
  [[nodiscard]] Effect write_fails_with(int error) const;

 private:
  Server* server_;
  Node* node_;
};

// A fault that hits a primary's disk: `strike` does it, and its result heals.
using DiskStrike = std::unique_ptr<ActiveFault> (*)(const DiskTarget& target);
std::unique_ptr<Fault> make_disk_fault(DiskStrike strike);

// Logs what healing in a destructor could not do.
void heal_quietly(ActiveFault& fault, const DiskTarget& target) noexcept;

}  // namespace holdfast
