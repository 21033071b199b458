#include "harness/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::array<std::string_view, 4> kTypeNames = {"invoke", "ok", "fail", "info"};
constexpr std::array<std::string_view, 5> kNotes = {"lost", "renewing", "renewed", "step", "exited"};

Error bad_field(const char* field, const Value& value, const char* wanted) {
  return Error(fmt::format("field \"{}\" is {}; {}", field, value.dump(), wanted));
}

const Value& required(const Value& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end()) {
    throw Error(fmt::format("field \"{}\" is missing", field));
  }
  return *found;
}

EventType type_of(const Value& object) {
  const Value& type = required(object, "type");
  if (type.is_string()) {
    const auto* const found = std::find(kTypeNames.begin(), kTypeNames.end(), type.get_ref<const std::string&>());
    if (found != kTypeNames.end()) return static_cast<EventType>(found - kTypeNames.begin());
  }
  throw bad_field("type", type, R"(it must be "invoke", "ok", "fail" or "info")");
}

Process process_of(const Value& object) {
  const Value& process = required(object, "process");
  if (process == "nemesis") return Process::nemesis;
  if (process.is_number_integer() && process.get<std::int64_t>() >= 0) return Process{process.get<std::int64_t>()};
  throw bad_field("process", process, R"(it must be a whole number from 0 on, or "nemesis")");
}

std::uint64_t unsigned_of(const Value& object, const char* field) {
  const Value& value = required(object, field);
  if (!value.is_number_unsigned()) throw bad_field(field, value, "it must be a whole number from 0 on");
  return value.get<std::uint64_t>();
}

std::string text_of(const Value& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->dump();  // Jepsen's keys may be numbers
}

bool is_known(std::string_view field) {
  static constexpr std::array<std::string_view, 9> kKnown = {"index", "type", "process", "f",    "key",
                                                             "value", "time", "node",    "error"};
  return std::find(kKnown.begin(), kKnown.end(), field) != kKnown.end();
}

}  // namespace

std::string_view to_string(EventType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }

bool is_note(std::string_view f) { return std::find(kNotes.begin(), kNotes.end(), f) != kNotes.end(); }

std::string to_json_line(const Event& event) {
  fmt::memory_buffer line;
  const auto out = std::back_inserter(line);
  fmt::format_to(out, R"({{"index":{},"type":"{}",)", event.index, to_string(event.type));
  if (event.process == Process::nemesis) {
    fmt::format_to(out, R"("process":"nemesis")");
  } else {
    fmt::format_to(out, R"("process":{})", number(event.process));
  }
  fmt::format_to(out, R"(,"f":{})", Value(event.f).dump());
  if (!event.key.empty()) fmt::format_to(out, R"(,"key":{})", Value(event.key).dump());
  if (event.value.is_null()) {
    fmt::format_to(out, R"(,"value":null)");
  } else {
    // A client may print bytes that are not UTF-8; the journal has to stay readable all the same.
    fmt::format_to(out, R"(,"value":{})", event.value.dump(-1, ' ', false, Value::error_handler_t::replace));
  }
  fmt::format_to(out, R"(,"time":{})", event.time.count());
  if (!event.node.empty()) fmt::format_to(out, R"(,"node":{})", Value(event.node).dump());
  if (!event.error.is_null()) {
    fmt::format_to(out, R"(,"error":{})", event.error.dump(-1, ' ', false, Value::error_handler_t::replace));
  }
  if (event.extra.is_object()) {
    for (const auto& [field, value] : event.extra.items()) {
      fmt::format_to(out, ",{}:{}", Value(field).dump(), value.dump());
    }
  }
  fmt::format_to(out, "}}");
  return fmt::to_string(line);
}

Event parse_event(std::string_view line) {
  Value object;
  try {
    object = Value::parse(line);
  } catch (const Value::parse_error& error) {
    throw Error(fmt::format("column {}: not JSON", error.byte));
  }
  if (!object.is_object()) throw Error("column 1: not a JSON object");
  Event event;
  event.index = unsigned_of(object, "index");
  event.type = type_of(object);
  event.process = process_of(object);
  const Value& f = required(object, "f");
  if (!f.is_string()) throw bad_field("f", f, "it must be a string");
  event.f = f.get<std::string>();
  event.key = text_of(object, "key");
  event.time = Time(static_cast<std::int64_t>(unsigned_of(object, "time")));
  event.node = text_of(object, "node");
  for (auto& [field, value] : object.items()) {
    if (field == "value") {
      event.value = std::move(value);
    } else if (field == "error") {
      event.error = std::move(value);
    } else if (!is_known(field)) {
      event.extra[field] = std::move(value);
    }
  }
  return event;
}

}  // namespace holdfast
