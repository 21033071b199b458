// history.jsonl: one JSON object per line, with the fields of harness/event.h in any order; index, node and fields that
// we do not know are read over. simdjson parses each line where it lies in the window.
#include <fmt/format.h>
#include <simdjson.h>

#include "harness/error.h"
#include "harness/event.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t kLongLine = std::size_t{1} << 14U;  // room to begin with; longer ones make more

std::string printed(const element& value) {
  return simdjson::minify(value);
}

class JsonlReader {
 public:
  JsonlReader(Window& window, HistoryBuilder& builder) : window_(window), builder_(builder) {
    HOLDFAST_CHECK(parser_.allocate(kLongLine, static_cast<std::size_t>(kDeepest) + 1) == simdjson::SUCCESS,
                   "out of memory");
  }

  void read() {
    Window::Line line;
    while (window_.next_line(line)) {
      window_.set_event(line.text.data());
      if (line.text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      Draft draft;
      if (!read_line(line, draft)) {
        builder_.truncate();
        return;
      }
      builder_.add(draft);
    }
  }

 private:
  // False: the line was cut short by the end of the file.
  bool read_line(const Window::Line& line, Draft& draft) {
    element root;
    const auto error = parser_.parse(line.text.data(), line.text.size(), false).get(root);
    if (error != simdjson::SUCCESS) {
      diagnose(line, simdjson::error_message(error));
      return false;
    }
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) {
      throw Complaint("not a JSON object; a history has one event per line, each an object");
    }
    for (const auto& [name, value] : object) {
      try {
        field(name, value, draft);
      } catch (const Complaint& complaint) {  // simdjson does not tell where it found things
        const std::size_t column = column_of_field(line.text, name);
        throw Complaint(complaint.what(), line.text.data() + (column == 0 ? 0 : column - 1));
      }
    }
    return true;
  }

  // Returns when the line is the beginning of an event; otherwise it complains.
  void diagnose(const Window::Line& line, const char* reason) const {
    constexpr const char* kFix = "a history has one JSON object per line";
    if (nested_too_deep(line.text)) {
      throw Complaint(fmt::format("nested deeper than {} levels; no operation needs that", kDeepest));
    }
    try {
      [[maybe_unused]] const Value whole = Value::parse(line.text);
    } catch (const Value::parse_error& error) {
      const bool at_end = error.byte >= line.text.size();
      const bool object = line.text.find_first_not_of(" \t") == line.text.find('{');
      if (at_end && object && !line.terminated) return;
      const std::size_t column = error.byte == 0 ? 0 : std::min(error.byte - 1, line.text.size());
      throw Complaint(fmt::format("not JSON; {}", kFix), line.text.data() + column);
    } catch (const Value::exception&) {
      throw Complaint(fmt::format("not JSON; {}", kFix));
    }
    throw Complaint(
        fmt::format("not JSON ({}); {}", reason, kFix));  // a number that only nlohmann can hold, or bad UTF-8
  }

  void field(std::string_view name, const element& value, Draft& draft) {
    RecordedEvent& event = draft.event;
    if (name == "process") {
      process(value, draft);
    } else if (name == "type") {
      std::string_view type;
      if (value.get(type) != simdjson::SUCCESS || !builder_.set_type(draft, type)) {
        throw Complaint(
            fmt::format(R"("type" is {}; it must be "invoke", "ok", "fail" or "info")", printable(printed(value))));
      }
    } else if (name == "f") {
      std::string_view f;
      if (value.get(f) != simdjson::SUCCESS) {
        throw Complaint(fmt::format(R"("f" is {}; it must be a string)", printable(printed(value))));
      }
      event.f = builder_.intern(f);
    } else if (name == "key") {
      event.key = value.is_null() ? kNoText : builder_.intern(text_of(value));
    } else if (name == "value") {
      event.hold = kNoHold;
      event.value = value.type() == element_type::OBJECT ? object_value(value, &draft) : convert(value);
    } else if (name == "time") {
      time(value, event);
    } else if (name == "error") {
      event.error = value.is_null() ? kNoText : builder_.intern_error(text_of(value));
    }
  }

  void process(const element& value, Draft& draft) const {
    std::int64_t number = 0;
    if (value.get(number) == simdjson::SUCCESS) {
      builder_.set_process(draft, number);
    } else if (value.is_number()) {
      throw Complaint(fmt::format("process {}; number the processes from 0 to 2147483647", printed(value)));
    } else {
      draft.who = Draft::Who::other;
    }
  }

  static void time(const element& value, RecordedEvent& event) {
    event.time = kNoTime;
    if (value.is_null() || value.get(event.time) == simdjson::SUCCESS) return;
    throw Complaint(
        fmt::format(R"("time" is {}; it must be nanoseconds, a whole number below 2^63)", printable(printed(value))));
  }

  // A string as it is, anything else as JSON.
  static std::string text_of(const element& value) {
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? std::string(text) : printed(value);
  }

  RecordedValue convert(const element& value) {
    switch (value.type()) {
      case element_type::ARRAY: {
        const std::size_t mark = builder_.open();
        const simdjson::dom::array parts = value.get_array();
        for (const element part : parts) builder_.push(convert(part));
        return builder_.close_list(mark);
      }
      case element_type::OBJECT:
        return object_value(value, nullptr);
      case element_type::INT64:
        return builder_.integer(value.get_int64().value_unsafe());
      case element_type::UINT64:
        return builder_.text(printed(value));
      case element_type::DOUBLE:
        return builder_.real(value.get_double().value_unsafe());
      case element_type::STRING:
        return builder_.text(value.get_string().value_unsafe());
      case element_type::BOOL:
        return builder_.boolean(value.get_bool().value_unsafe());
      case element_type::NULL_VALUE:
        return {};
    }
    return {};
  }

  RecordedValue object_value(const element& value, Draft* draft) {
    const std::size_t mark = builder_.open();
    const simdjson::dom::object members = value.get_object();
    for (const auto& [name, part] : members) {
      const TextId id = builder_.intern(name);
      const RecordedValue converted = convert(part);
      builder_.push_name(id);
      builder_.push(converted);
    }
    return draft == nullptr ? builder_.close_map(mark) : builder_.close_event_map(mark, *draft);
  }

  Window& window_;
  HistoryBuilder& builder_;
  simdjson::dom::parser parser_;
};

}  // namespace

void read_jsonl(Window& window, HistoryBuilder& builder) {
  JsonlReader(window, builder).read();
}

}  // namespace holdfast::formats
