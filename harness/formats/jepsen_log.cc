// The log that Jepsen prints while it runs. A line with an operation ends in
//
//   INFO  jepsen.util - 0  :invoke  :write  3        process, type, function, value, separated by blanks or tabs
//
// whatever stands before it (dates, threads), with "jepsen.util", ":" or "-" in front of the process. A failed or
// unknown operation has its error behind the value, or in its place (:timed-out). All other lines are somebody else's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/formats/edn_parser.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {

namespace {

constexpr std::string_view kLogger = "jepsen.util";
constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes the first word from the front of `text`.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

// Whether this is an operation at all; reads process and type, and leaves the rest of the line.
bool begins_operation(std::string_view& text, Draft& draft, HistoryBuilder& builder) {
  const std::size_t logger = text.find(kLogger);
  if (logger == std::string_view::npos) return false;
  text.remove_prefix(logger + kLogger.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t:-"), text.size()));
  if (text.starts_with("nemesis") && text.data()[-1] == ':') {
    draft.who = Draft::Who::other;
    take_word(text);
  } else {
    const std::string_view process = take_word(text);
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(process.data(), process.data() + process.size(), number);
    if (process.empty() || stop != process.data() + process.size()) return false;
    builder.set_process(draft, error == std::errc() ? number : -1);
  }
  const std::string_view type = take_word(text);
  return type.starts_with(':') && builder.set_type(draft, type.substr(1));
}

void read_operation(std::string_view text, Draft& draft, HistoryBuilder& builder) {
  const char* const end = text.data() + text.size();
  const char* const first = std::find_if_not(text.data(), end, [](char byte) { return byte == ' ' || byte == '\t'; });
  EdnParser parser(text.data(), end, true, builder);
  try {
    if (parser.next_form() == 0) throw Complaint("the function is missing; every event needs its function", first);
    draft.event.f = parser.label();
    const char before = parser.next_form();
    if (before == 0) return;  // no value: some versions leave a nil out
    draft.event.value = parser.event_value(draft);
    const auto rest = trim({parser.at(), static_cast<std::size_t>(end - parser.at())});
    const bool failed = draft.event.type == EventType::fail || draft.event.type == EventType::info;
    if (!rest.empty()) {
      EdnParser behind(rest.data(), rest.data() + rest.size(), true, builder);
      draft.event.error = behind.label();
    } else if (failed && before == ':') {
      draft.event.error = builder.error_of(draft.event.value);
      draft.event.value = {};
    }
  } catch (const EndOfText&) {
    throw Complaint("the line ends before its value does; an operation stands on one line", end);
  }
}

}  // namespace

void read_jepsen_log(Window& window, HistoryBuilder& builder) {
  Window::Line line;
  while (window.next_line(line)) {
    window.set_event(line.text.data());
    if (trim(line.text).empty()) continue;
    // Nobody can tell 12 from the beginning of 123: without its newline the line may have lost something.
    if (!line.terminated) {
      builder.truncate();
      return;
    }
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    Draft draft;
    if (!begins_operation(text, draft, builder)) {
      builder.ignore_line();
      continue;
    }
    if (draft.who != Draft::Who::other) read_operation(text, draft, builder);
    builder.add(draft);
  }
}

}  // namespace holdfast::formats
