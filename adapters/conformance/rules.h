// The rules of the protocol, each a small conversation with fresh processes of the client.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "adapters/conformance/speaker.h"

namespace holdfast {

struct Examination {
  Subject subject;
  bool locks = true;                                       // check the lock rules, if there are servers
  std::vector<std::pair<std::string, std::string>> steps;  // {"acquire", "setnx-done"}
};

// Prints one line per rule on standard output; true: all were kept.
bool examine(const Examination& examination);

}  // namespace holdfast
