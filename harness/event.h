// Event: one line of history.jsonl, with Jepsen's field names.
//
//   {"index":7,"type":"ok","process":3,"f":"acquire","key":"L1","value":{"token":17},"time":129383,"node":"c2"}
//
// `time` is nanoseconds since the run began on one monotonic clock (the controller's). Faults are events of the
// process "nemesis". Fields that we do not know are kept in `extra` and written back.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace holdfast {

using Value = nlohmann::json;
using Time = std::chrono::nanoseconds;

enum class EventType : std::uint8_t { invoke, ok, fail, info };
std::string_view to_string(EventType type);

// A logical client. One that met an unknown outcome is retired: its lane goes on as process + concurrency.
enum class Process : std::int64_t { nemesis = -1 };
constexpr std::int64_t number(Process process) {
  return static_cast<std::int64_t>(process);
}

struct Event {
  std::uint64_t index = 0;
  EventType type = EventType::invoke;
  Process process{};
  std::string f;
  std::string key;  // empty: the operation has no key
  Value value;
  Time time{};
  std::string node;  // empty: unknown
  Value error;       // null: none
  Value extra;       // null, or an object with the fields we do not know
};

// What a client says without being asked; such an event neither opens nor closes an operation, and is written
// with type info. A note's value names the hold it speaks of: {"hold":12}.
//   lost      the client library told its user that the lease or session is gone
//   renewing  a renewal is about to be sent     renewed  it was granted     (value.hold)
//   step      a named step of an operation      (value.step)
//   exited    the client's operating-system process ended: from here on it believes nothing
bool is_note(std::string_view f);

// Nested deeper than we keep (200 levels): copying or printing such a value could overflow the stack.
bool nested_too_deep(std::string_view json);
// Where a field of a JSON object begins, counted in bytes from 1; 0: it has no such field.
std::size_t column_of_field(std::string_view json, std::string_view field);
void append_json_text(std::string& out, std::string_view text);  // quoted and escaped
void append_json_line(std::string& out, const Event& event);     // no newline at the end
std::string to_json_line(const Event& event);
Event parse_event(std::string_view line);  // throws Error: "column 17: ..." without the line number

// The same for one line after the other, many times as fast: memory is used again, and only a line that is in any way
// unusual takes the way of parse_event, which knows what to say about it.
class EventParser {
 public:
  EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser();
  Event parse(const std::string& line);

 private:
  class Document;
  std::unique_ptr<Document> document_;
};

}  // namespace holdfast
