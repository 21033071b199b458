// EdnParser: strings with their escapes, and the fields of an event.
#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

#include "harness/formats/edn_parser.h"
#include "harness/formats/utf8.h"

namespace holdfast::formats {

std::string_view EdnParser::string() {
  const char* const from = ++at_;
  unsigned char seen = 0;
  const char* stop = from;
  while (stop != end_ && *stop != '"' && *stop != '\\') seen |= static_cast<unsigned char>(*stop++);
  if (stop == end_) throw EndOfText{};
  std::string_view text(from, static_cast<std::size_t>(stop - from));
  if (*stop == '\\') {
    text = escaped_string(from);
    seen = 0x80;
  } else {
    at_ = stop + 1;
  }
  if ((seen & 0x80U) != 0 && !simdjson::validate_utf8(text)) {
    throw Complaint("bytes that are not UTF-8; convert the file with iconv", from);
  }
  return text;
}

std::string_view EdnParser::escaped_string(const char* from) {
  unescaped_.clear();
  while (true) {
    if (from == end_) throw EndOfText{};
    if (*from == '"') break;
    if (*from == '\\') {
      append_escape(from);
    } else {
      unescaped_ += *from++;
    }
  }
  at_ = from + 1;
  return unescaped_;
}

void EdnParser::append_escape(const char*& from) {
  const char* const escape = from;
  if (end_ - from < 2) throw EndOfText{};
  const char letter = from[1];
  from += 2;
  constexpr std::string_view kLetters = "tnrfb\\\"'";
  constexpr std::string_view kMeant = "\t\n\r\f\b\\\"'";
  if (const std::size_t known = kLetters.find(letter); known != std::string_view::npos) {
    unescaped_ += kMeant[known];
    return;
  }
  if (letter != 'u')
    throw Complaint(
        fmt::format("{} is no escape in a string", in_quotes({escape, 2})) + R"(; write \\ for a backslash)", escape);
  std::uint32_t code = four_digits(from);
  if (is_high_surrogate(code)) {
    if (end_ - from < 2) throw EndOfText{};
    if (from[0] != '\\' || from[1] != 'u')
      throw Complaint("half of a surrogate pair; write the character itself", escape);
    from += 2;
    const std::uint32_t low = four_digits(from);
    if (!is_low_surrogate(low)) throw Complaint("half of a surrogate pair; write the character itself", escape);
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  } else if (is_low_surrogate(code)) {
    throw Complaint("half of a surrogate pair; write the character itself", escape);
  }
  append_utf8(unescaped_, code);
}

std::uint32_t EdnParser::four_digits(const char*& from) {
  if (end_ - from < 4) throw EndOfText{};
  std::uint32_t code = 0;
  if (std::from_chars(from, from + 4, code, 16).ptr != from + 4) {
    throw Complaint("\\u needs four hexadecimal digits", from);
  }
  from += 4;
  return code;
}

RecordedValue EdnParser::event_value(Draft& draft) {
  return require_form() == '{' ? map(&draft) : value();
}

void EdnParser::event(Draft& draft) {
  const Level level(*this);
  ++at_;
  while (true) {
    const char first = next_form();
    if (first == 0) throw EndOfText{};
    if (first == '}') break;
    if (first == ':') {
      event_field(token().substr(1), draft);
    } else if (first == '"') {
      const std::string field(string());
      event_field(field, draft);
    } else {
      skip();
      skip();
    }
  }
  ++at_;
}

void EdnParser::event_field(std::string_view field, Draft& draft) {
  if (field == "process") {
    process_field(draft);
  } else if (field == "type") {
    type_field(draft);
  } else if (field == "f") {
    draft.event.f = label();
  } else if (field == "value") {
    draft.event.hold = kNoHold;
    draft.event.value = event_value(draft);
  } else if (field == "key") {
    draft.event.key = label();
  } else if (field == "time") {
    time_field(draft);
  } else if (field == "error") {
    draft.event.error = label();
  } else {
    skip();
  }
}

void EdnParser::process_field(Draft& draft) {
  const char first = require_form();
  const char* const from = at_;
  if (first != '-' && first != '+' && (first < '0' || first > '9')) {
    skip();
    draft.who = Draft::Who::other;
    return;
  }
  const std::string_view digits = token();
  std::int64_t number_here = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number_here);
  if (error != std::errc() || stop != digits.data() + digits.size()) {
    throw Complaint(fmt::format("process {}; number the processes from 0 to 2147483647", in_quotes(digits)), from);
  }
  builder_.set_process(draft, number_here);
}

void EdnParser::type_field(Draft& draft) {
  const char first = require_form();
  const char* const from = at_;
  const bool known =
      first == ':' ? builder_.set_type(draft, token().substr(1)) : first == '"' && builder_.set_type(draft, string());
  if (known) return;
  at_ = from;
  skip();
  throw Complaint(fmt::format(":type is {}; it must be :invoke, :ok, :fail or :info",
                              in_quotes({from, static_cast<std::size_t>(at_ - from)})),
                  from);
}

void EdnParser::time_field(Draft& draft) {
  static_cast<void>(require_form());
  const char* const from = at_;
  std::string_view digits = token();
  draft.event.time = kNoTime;
  if (digits == "nil") return;
  if (digits.ends_with('N')) digits.remove_suffix(1);
  std::int64_t time = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), time);
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size()) {
    throw Complaint(fmt::format(":time is {}; it must be nanoseconds, a whole number below 2^63", in_quotes(digits)),
                    from);
  }
  draft.event.time = time;
}

}  // namespace holdfast::formats
