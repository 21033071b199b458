// Checker: history -> verdict. Pure: no I/O, no clock, no randomness, so a verdict can be had again at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/history.h"

namespace holdfast {

enum class Validity : std::uint8_t { valid, unknown, invalid };  // worse is greater: combine with std::max
std::string_view to_string(Validity validity);

struct Finding {
  std::string kind;                   // stable and short, e.g. "believed-hold-overlap"
  std::string because;                // one sentence that a stranger understands
  std::vector<std::uint64_t> events;  // indices of the events that prove it, in order
  Value detail;                       // numbers behind the sentence: {"overlap_ms":…, "key":…, …}
};

struct Verdict {
  Validity validity = Validity::valid;
  bool applicable = true;       // false: the history has nothing that this property speaks of (no tokens, say)
  std::uint64_t exposures = 0;  // how often the property was put to the test; 0 makes the verdict unknown
  std::string exposure;         // what was counted: "holds whose holder was paused"
  std::string reason;           // for unknown: why
  std::vector<Finding> findings;
  Value detail;
};

struct Budget {
  std::stop_token stop;
  std::size_t bytes = 0;  // 0: no limit
};

class Checker {
 public:
  virtual ~Checker() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Verdict check(const History& history, const Budget& budget) const = 0;
};

}  // namespace holdfast
