// Envelope: the outer object of one protocol line, taken apart without building a JSON tree.
//
// A client answers a few hundred thousand lines a second at best, and all it needs of most of them is the id and the
// name of the operation. So the fields are found by one strict pass over the text; `value` stays text until somebody
// asks for it. (simdjson would do the same, but Debian has it as a shared library only, and a client program must run
// on a host where nothing of ours is installed.)
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast {

class MalformedLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Envelope {
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> resume;  // {"continue":7}
  std::string f;
  std::string key;
  std::string_view value;    // JSON text within the line; empty: absent
  std::string_view stop_at;  // likewise
};

// The result points into `line`. Throws MalformedLine: "column 17: expected ':'".
Envelope parse_envelope(std::string_view line);

}  // namespace holdfast
