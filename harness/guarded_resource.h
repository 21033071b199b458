// The guarded resource: the register that the lock is there to protect, served by a process of ours on a node of its
// own. Clients reach it over the network, so a client that is paused or cut off reaches it late or not at all.
#pragma once

#include <memory>
#include <string>

#include "harness/node.h"

namespace holdfast {

class GuardedResource {
 public:
  explicit GuardedResource(Node& node);  // returns when it listens; throws Error
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  std::string address_;
  std::unique_ptr<NodeProcess> process_;
};

}  // namespace holdfast
