#include "checkers/objects/operation.h"

#include <array>

#include "checkers/objects/decision.h"

namespace holdfast::objects {

std::string_view to_string(Call call) {
  constexpr std::array<std::string_view, 15> kNames = {"read",      "write",  "cas",     "append",   "transact",
                                                       "increment", "add",    "remove",  "contains", "insert",
                                                       "extract",   "ticket", "acquire", "renew",    "release"};
  return kNames.at(static_cast<std::size_t>(call));
}

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 16> kNames = {
      "register",       "counter",      "set",          "queue",           "stack",       "priority queue",
      "multi-register", "map of texts", "mutex",        "anonymous mutex", "lease mutex", "rw lock",
      "semaphore",      "multi-lock",   "fenced mutex", "fair lock"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Answer answer) {
  constexpr std::array<std::string_view, 3> kNames = {"linearizable", "violation", "undecided"};
  return kNames.at(static_cast<std::size_t>(answer));
}

}  // namespace holdfast::objects
