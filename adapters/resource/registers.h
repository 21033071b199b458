// Registers: what the guarded resource guards. One register per key, which starts at 0, takes every write, and
// remembers the highest fencing token it has seen.
//
// It does not check who holds the lock: that is the point. A write from a stale holder goes through unless tokens are
// used, and the history shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "adapters/cpp/envelope.h"

namespace holdfast {

class Registers {
 public:
  // The answer to one request line, without a newline. Throws MalformedLine.
  std::string serve(std::string_view line);

 private:
  struct Register {
    std::string value = "0";  // JSON text
    std::optional<std::uint64_t> highest;
  };
  std::string outcome(const Envelope& request);

  std::unordered_map<std::string, Register> registers_;
};

}  // namespace holdfast
