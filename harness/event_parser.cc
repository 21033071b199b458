// EventParser: an event straight from simdjson's document, without a tree of the whole line in between.
#include <simdjson.h>

#include <optional>

#include "harness/error.h"
#include "harness/event.h"

namespace holdfast {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t kUsualLine = 4096;
constexpr std::size_t kDepth = 200;  // what parse_event keeps; it looks at deeper lines itself

Value to_value(const element& from) {
  switch (from.type()) {
    case element_type::ARRAY: {
      Value list = Value::array();
      const simdjson::dom::array parts = from.get_array();
      for (const element part : parts) list.push_back(to_value(part));
      return list;
    }
    case element_type::OBJECT: {
      Value object = Value::object();
      const simdjson::dom::object members = from.get_object();
      for (const auto& [name, part] : members) object[std::string(name)] = to_value(part);
      return object;
    }
    case element_type::INT64: {
      const std::int64_t number = from.get_int64().value_unsafe();
      if (number < 0) return number;
      return static_cast<std::uint64_t>(number);  // as nlohmann's own parser has it
    }
    case element_type::UINT64:
      return from.get_uint64().value_unsafe();
    case element_type::DOUBLE:
      return from.get_double().value_unsafe();
    case element_type::STRING:
      return from.get_string().value_unsafe();
    case element_type::BOOL:
      return from.get_bool().value_unsafe();
    case element_type::NULL_VALUE:
      return nullptr;
  }
  return nullptr;
}

// Which of the required fields a line has had.
struct Seen {
  bool index = false;
  bool type = false;
  bool process = false;
  bool f = false;
  bool time = false;
  [[nodiscard]] bool all() const { return index && type && process && f && time; }
};

bool to_type(const element& from, EventType& type) {
  std::string_view text;
  if (from.get(text) != simdjson::SUCCESS) return false;
  for (const EventType candidate : {EventType::invoke, EventType::ok, EventType::fail, EventType::info}) {
    if (text != to_string(candidate)) continue;
    type = candidate;
    return true;
  }
  return false;
}

bool to_process(const element& from, Process& process) {
  std::int64_t number_here = 0;
  if (from.get(number_here) == simdjson::SUCCESS) {
    process = Process{number_here};
    return number_here >= 0;
  }
  std::string_view text;
  process = Process::nemesis;
  return from.get(text) == simdjson::SUCCESS && text == "nemesis";
}

bool to_text(const element& from, std::string& text) {
  std::string_view view;
  if (from.get(view) != simdjson::SUCCESS) return false;
  text = view;
  return true;
}

bool to_time(const element& from, Time& time) {
  std::int64_t nanoseconds = 0;
  if (from.get(nanoseconds) != simdjson::SUCCESS || nanoseconds < 0) return false;
  time = Time(nanoseconds);
  return true;
}

// False: the field has not the form that it usually has.
bool read_field(std::string_view name, const element& from, Event& event, Seen& seen) {
  if (name == "index") {
    seen.index = true;
    return from.get(event.index) == simdjson::SUCCESS;
  }
  if (name == "type") {
    seen.type = true;
    return to_type(from, event.type);
  }
  if (name == "process") {
    seen.process = true;
    return to_process(from, event.process);
  }
  if (name == "f") {
    seen.f = true;
    return to_text(from, event.f);
  }
  if (name == "time") {
    seen.time = true;
    return to_time(from, event.time);
  }
  if (name == "key") return to_text(from, event.key);
  if (name == "node") return to_text(from, event.node);
  if (name == "value") {
    event.value = to_value(from);
  } else if (name == "error") {
    event.error = to_value(from);
  } else {
    event.extra[std::string(name)] = to_value(from);
  }
  return true;
}

}  // namespace

class EventParser::Document {
 public:
  Document() { HOLDFAST_CHECK(parser_.allocate(kUsualLine, kDepth) == simdjson::SUCCESS, "out of memory"); }

  std::optional<Event> read(const std::string& line) {
    if (line.find("-0") != std::string::npos) return std::nullopt;  // simdjson forgets the sign of a -0
    simdjson::dom::object object;
    if (parser_.parse(line).get(object) != simdjson::SUCCESS) return std::nullopt;
    Event event;
    Seen seen;
    for (const auto& [name, value] : object) {
      if (!read_field(name, value, event, seen)) return std::nullopt;
    }
    if (!seen.all()) return std::nullopt;
    return event;
  }

 private:
  simdjson::dom::parser parser_;
};

EventParser::EventParser() : document_(std::make_unique<Document>()) {}
EventParser::~EventParser() = default;

Event EventParser::parse(const std::string& line) {
  if (auto event = document_->read(line)) return std::move(*event);
  return parse_event(line);
}

}  // namespace holdfast
