#include "harness/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::array<std::string_view, 4> kTypeNames = {"invoke", "ok", "fail", "info"};
constexpr std::array<std::string_view, 5> kNotes = {"lost", "renewing", "renewed", "step", "exited"};

// Deeper lines than this are refused, and no deeper ones are written: writing takes a stack frame per level.
constexpr std::size_t kDeepest = 200;

bool deeper_than(const Value& value, std::size_t levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  return std::any_of(value.begin(), value.end(), [levels](const Value& part) { return deeper_than(part, levels - 1); });
}

class FieldError : public Error {
 public:
  FieldError(std::string_view field, const std::string& message) : Error(message), field_(field) {}
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string field_;
};

FieldError bad_field(const char* field, const Value& value, const char* wanted) {
  constexpr std::size_t kEnough = 60;
  std::string text = value.dump(-1, ' ', true, Value::error_handler_t::replace);
  if (text.size() > kEnough) text = text.substr(0, kEnough) + "...";
  return {field, fmt::format("field \"{}\" is {}; {}", field, text, wanted)};
}

struct Shape {
  std::size_t depth = 0;   // of the deepest value
  std::size_t column = 0;  // of the field that was looked for, 0: not found
};

// Looks over a JSON object without building it: the library that parses it does not tell where it found things.
Shape shape_of(std::string_view line, std::string_view field) {
  Shape shape;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char character = line[i];
    if (character == '{' || character == '[') {
      shape.depth = std::max(shape.depth, ++depth);
    } else if (character == '}' || character == ']') {
      depth -= depth > 0 ? 1 : 0;
    } else if (character == '"') {
      const std::size_t begin = i;
      for (++i; i < line.size() && line[i] != '"'; ++i) i += line[i] == '\\' ? 1 : 0;
      const std::size_t after = line.find_first_not_of(" \t", std::min(i + 1, line.size()));
      const bool name = depth == 1 && after != std::string_view::npos && line[after] == ':';
      if (name && line.substr(begin + 1, i - begin - 1) == field) shape.column = begin + 1;
    }
  }
  return shape;
}

const Value& required(const Value& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end()) {
    throw FieldError(field, fmt::format("field \"{}\" is missing", field));
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

Time time_of(const Value& object) {
  const std::uint64_t nanoseconds = unsigned_of(object, "time");
  if (nanoseconds > static_cast<std::uint64_t>(Time::max().count())) {
    throw bad_field("time", nanoseconds, "it must be nanoseconds since the run began, below 2^63");
  }
  return Time(static_cast<std::int64_t>(nanoseconds));
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

// A client may print bytes that are not UTF-8; the journal has to stay readable all the same.
void append_value(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += "null";
  } else if (deeper_than(value, kDeepest - 1)) {
    out += "\"a value nested too deeply to be kept\"";  // what a client prints must neither stop us nor the reader
  } else {
    out += value.dump(-1, ' ', false, Value::error_handler_t::replace);
  }
}

void append_text_field(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_text(out, text);
}

void append_field(std::string& out, std::string_view name, const Value& value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_value(out, value);
}

Event from_object(Value& object) {
  Event event;
  event.index = unsigned_of(object, "index");
  event.type = type_of(object);
  event.process = process_of(object);
  const Value& f = required(object, "f");
  if (!f.is_string()) throw bad_field("f", f, "it must be a string");
  event.f = f.get<std::string>();
  event.key = text_of(object, "key");
  event.time = time_of(object);
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

std::size_t column_of(const Value::exception& error, std::string_view line) {
  const auto* const syntax = dynamic_cast<const Value::parse_error*>(&error);
  return syntax == nullptr ? 1 : std::clamp<std::size_t>(syntax->byte, 1, line.size() + 1);
}

}  // namespace

// Names are nearly always plain ASCII: copying them costs a tenth of what the library's escaping does, and the
// recorder writes two events per operation.
void append_json_text(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char character) {
    return character >= ' ' && character != '"' && character != '\\' && character != '\x7F';
  });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
  } else {
    append_value(out, Value(text));
  }
}

std::string_view to_string(EventType type) {
  return kTypeNames.at(static_cast<std::size_t>(type));
}

bool is_note(std::string_view f) {
  return std::find(kNotes.begin(), kNotes.end(), f) != kNotes.end();
}

void append_json_line(std::string& out, const Event& event) {
  fmt::format_to(std::back_inserter(out), R"({{"index":{},"type":"{}","process":)", event.index, to_string(event.type));
  if (event.process == Process::nemesis) {
    out += R"("nemesis")";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number(event.process));
  }
  append_text_field(out, "f", event.f);
  if (!event.key.empty()) append_text_field(out, "key", event.key);
  append_field(out, "value", event.value);
  fmt::format_to(std::back_inserter(out), R"(,"time":{})", event.time.count());
  if (!event.node.empty()) append_text_field(out, "node", event.node);
  if (!event.error.is_null()) append_field(out, "error", event.error);
  if (event.extra.is_object()) {
    for (const auto& [field, value] : event.extra.items()) {
      out += ',';
      append_json_text(out, field);
      out += ':';
      append_value(out, value);
    }
  }
  out += '}';
}

std::string to_json_line(const Event& event) {
  std::string line;
  append_json_line(line, event);
  return line;
}

bool nested_too_deep(std::string_view json) {
  return json.size() > kDeepest && shape_of(json, {}).depth > kDeepest;
}

std::size_t column_of_field(std::string_view json, std::string_view field) {
  return shape_of(json, field).column;
}

Event parse_event(std::string_view line) {
  if (nested_too_deep(line)) {
    throw Error(fmt::format("column 1: nested deeper than {} levels", kDeepest));
  }
  Value object;
  try {
    object = Value::parse(line);
  } catch (const Value::exception& error) {  // beside a syntax error also a number that is too large
    throw Error(fmt::format("column {}: not JSON", column_of(error, line)));
  }
  if (!object.is_object()) throw Error("column 1: not a JSON object");
  try {
    return from_object(object);
  } catch (const FieldError& error) {
    const std::size_t column = shape_of(line, error.field()).column;
    throw Error(fmt::format("column {}: {}", column == 0 ? line.size() : column, error.what()));
  }
}

}  // namespace holdfast
