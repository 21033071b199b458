// The adapter protocol, controller's side: one JSON object per line. docs/adapters.md is the reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/event.h"

namespace holdfast {

inline constexpr int kProtocolVersion = 1;

struct Reply {  // {"id":7,"type":"ok","value":{…},"error":…}
  std::uint64_t id = 0;
  EventType type = EventType::info;
  Value value;
  Value error;
};

struct Note {  // {"event":"lost","key":"L1","value":{"hold":12}}; for event "step" also "id" and "step"
  std::string event;
  std::string key;
  Value value;
  std::string step;
};

struct Garbage {
  std::string why;
};

// {"id":7,"f":"acquire","key":"L1","value":{…},"stop_at":["setnx-done"]} and a newline
std::string request_line(std::uint64_t id, std::string_view f, std::string_view key, const Value& value,
                         const std::vector<std::string>& stop_at);

using Message = std::variant<Reply, Note, Garbage>;

Message parse_message(std::string_view line);

// Collects bytes into lines. Refuses lines longer than the limit: a client must not fill our memory.
class LineReader {
 public:
  static constexpr std::size_t kLineLimit = std::size_t{1} << 20U;
  enum class Status : std::uint8_t { open, ended, too_long };

  // Reads what is there without blocking, but no more than a bounded amount per call, so that a flooding client
  // cannot starve the others.
  Status fill(int descriptor);
  std::optional<std::string_view> next_line();  // valid until the next fill()

 private:
  std::string buffer_;
  std::size_t start_ = 0;    // first byte not handed out
  std::size_t scanned_ = 0;  // no newline before this
};

}  // namespace holdfast
