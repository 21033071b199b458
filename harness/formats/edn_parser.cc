#include "harness/formats/edn_parser.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "harness/formats/utf8.h"

namespace holdfast::formats {

namespace {

enum : std::uint8_t { kBlank = 1, kDelimiter = 2, kDigit = 4, kHigh = 8 };  // kinds of bytes; a blank delimits as well

constexpr std::array<std::uint8_t, 256> kBytes = [] {
  std::array<std::uint8_t, 256> table{};
  for (const unsigned char blank : {' ', '\t', '\r', '\n', '\f', '\v', ','}) table[blank] = kBlank | kDelimiter;
  for (const unsigned char delimiter : {'(', ')', '[', ']', '{', '}', '"', ';'}) table[delimiter] = kDelimiter;
  for (unsigned char digit = '0'; digit <= '9'; ++digit) table[digit] = kDigit;
  for (std::size_t byte = 0x80; byte < table.size(); ++byte) table[byte] = kHigh;
  return table;
}();

std::uint8_t kinds(char byte) {
  return kBytes[static_cast<unsigned char>(byte)];
}
bool is(char byte, std::uint8_t kind) {
  return (kinds(byte) & kind) != 0;
}
bool closes(char byte) {
  return byte == ')' || byte == ']' || byte == '}';
}

bool begins_number(std::string_view token) {
  const std::size_t digit = token[0] == '-' || token[0] == '+' ? 1 : 0;
  return token.size() > digit && is(token[digit], kDigit);
}

bool is_ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return false;
  const std::string_view below = text.substr(slash + 1);
  const std::string_view above = text.substr(text[0] == '-' ? 1 : 0, slash - (text[0] == '-' ? 1 : 0));
  const auto digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char byte) { return is(byte, kDigit); });
  };
  return !above.empty() && digits(above) && digits(below);
}

void require_utf8(std::string_view text) {
  if (!simdjson::validate_utf8(text)) {
    throw Complaint("bytes that are not UTF-8; convert the file with iconv", text.data());
  }
}

}  // namespace

EdnParser::Level::Level(EdnParser& parser) : parser_(parser) {
  if (parser_.depth_ >= kDeepest) {
    parser_.fail(fmt::format("nested deeper than {} levels; no operation needs that", kDeepest));
  }
  ++parser_.depth_;
}

void EdnParser::skip_blank() {
  while (true) {
    while (at_ != end_ && is(*at_, kBlank)) ++at_;
    if (at_ == end_) return;
    if (*at_ == ';') {
      at_ = std::find(at_, end_, '\n');
      if (at_ == end_ && !complete_) throw EndOfText{};  // the rest of the comment must not be read as something else
    } else if (*at_ == '#' && at_ + 1 == end_) {
      throw EndOfText{};
    } else if (*at_ == '#' && at_[1] == '_') {
      const Level level(*this);  // #_ #_ #_ … nests
      at_ += 2;
      skip();
    } else {
      return;
    }
  }
}

char EdnParser::next_form() {
  bool tagged = false;
  while (true) {
    skip_blank();
    if (at_ == end_) {
      if (tagged) throw EndOfText{};
      return 0;
    }
    if (*at_ == '\0') fail("a byte that is 0; the file is damaged here or no text, fetch it again");
    if (tagged && closes(*at_)) fail("a tag with nothing behind it; delete the tag");
    if (*at_ != '#' || at_[1] == '{' || at_[1] == '#') return *at_;  // #{ is a set, ## a number like ##Inf
    skip_tag();
    tagged = true;
  }
}

char EdnParser::require_form() {
  const char first = next_form();
  if (first == 0) throw EndOfText{};
  if (closes(first))
    fail(fmt::format("a \"{}\" where a value should stand; a name or a #_ lacks what belongs to it", first));
  return first;
}

// The `#inst` of #inst "…".
void EdnParser::skip_tag() {
  const char* const hash = at_++;
  if (token().empty()) throw Complaint("a # with nothing behind it; #{…}, #_ and #tag are known", hash);
}

std::string_view EdnParser::token() {
  const char* stop = at_;
  std::uint8_t seen = 0;
  while (stop != end_ && !is(*stop, kDelimiter)) seen |= kinds(*stop++);
  if (stop == end_ && (!complete_ || depth_ > 0)) throw EndOfText{};  // within brackets more must follow
  const std::string_view text(at_, static_cast<std::size_t>(stop - at_));
  if ((seen & kHigh) != 0) require_utf8(text);
  at_ = stop;
  return text;
}

RecordedValue EdnParser::value() {
  switch (require_form()) {
    case '{':
      return map(nullptr);
    case '[':
      return collection(']');
    case '(':
      return collection(')');
    case '"':
      return text(string());
    case '\\':
      return character();
    case '#':
      if (at_[1] == '{') {
        ++at_;
        return collection('}');
      }
      return atom();
    default:
      return atom();
  }
}

RecordedValue EdnParser::collection(char close) {
  const Level level(*this);
  const std::size_t mark = builder_.open();
  ++at_;
  while (true) {
    const char first = next_form();
    if (first == 0) throw EndOfText{};
    if (first == close) break;
    builder_.push(value());
  }
  ++at_;
  if (skipping_ == 0) return builder_.close_list(mark);
  builder_.forget_from(mark);
  return {};
}

RecordedValue EdnParser::map(Draft* draft) {
  const Level level(*this);
  const std::size_t mark = builder_.open();
  ++at_;
  while (true) {
    const char first = next_form();
    if (first == 0) throw EndOfText{};
    if (first == '}') break;
    const TextId name_here = name();
    const RecordedValue part = value();
    builder_.push_name(name_here);
    builder_.push(part);
  }
  ++at_;
  if (skipping_ == 0) return draft == nullptr ? builder_.close_map(mark) : builder_.close_event_map(mark, *draft);
  builder_.forget_from(mark);
  return {};
}

void EdnParser::skip() {
  ++skipping_;
  static_cast<void>(value());
  --skipping_;
}

// What names a member of a map: usually a keyword. Anything else is named by how it is written.
TextId EdnParser::name() {
  const char first = require_form();
  if (skipping_ > 0) {
    skip();
    return kNoText;
  }
  if (first == '"') return builder_.intern(string());
  if (first == ':') {
    const std::string_view keyword = token().substr(1);
    if (keyword.empty()) throw Complaint("a keyword without a name; this is no EDN", keyword.data() - 1);
    return builder_.intern(keyword);
  }
  return source_of_form();
}

TextId EdnParser::source_of_form() {
  const char* const from = at_;
  skip();
  const std::string_view source(from, static_cast<std::size_t>(at_ - from));
  require_utf8(source);  // a comment in it was only read over
  return builder_.intern_error(source);
}

TextId EdnParser::label() {
  const char first = require_form();
  if (first == '"') return builder_.intern(string());
  if (first == '{' || first == '[' || first == '(' || first == '#' || first == '\\') return source_of_form();
  std::string_view text = token();
  if (text == "nil") return kNoText;
  if (text[0] == ':') text.remove_prefix(1);
  return builder_.intern(text);
}

RecordedValue EdnParser::character() {
  const char* const from = at_++;
  if (at_ == end_) throw EndOfText{};
  if (is(*at_, kDelimiter)) return text({at_++, 1});  // \( and the like
  const std::string_view written = token();
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamed = {
      {{"newline", "\n"}, {"return", "\r"}, {"space", " "}, {"tab", "\t"}, {"formfeed", "\f"}, {"backspace", "\b"}}};
  if (utf8_length(written) == 1) return text(written);
  for (const auto& [name_here, character] : kNamed) {
    if (written == name_here) return text(character);
  }
  const char* const stop = written.data() + written.size();
  std::uint32_t code = 0;
  if (written.size() == 5 && written[0] == 'u' && std::from_chars(written.data() + 1, stop, code, 16).ptr == stop &&
      !is_surrogate(code)) {
    unescaped_.clear();
    append_utf8(unescaped_, code);
    return text(unescaped_);
  }
  throw Complaint(fmt::format("{} is no character; known are \\c, \\newline, \\uXXXX and the like", in_quotes(written)),
                  from);
}

RecordedValue EdnParser::atom() {
  const char* const from = at_;
  const std::string_view token_here = token();
  if (token_here[0] == ':') {
    if (token_here.size() == 1) throw Complaint("a keyword without a name; this is no EDN", from);
    return text(token_here.substr(1));
  }
  if (begins_number(token_here)) return number(token_here, from);
  if (token_here == "nil") return {};
  if (token_here == "true" || token_here == "false") return builder_.boolean(token_here == "true");
  if (token_here.starts_with("##")) {
    if (skipping_ > 0) return {};
    if (token_here == "##Inf") return builder_.real(std::numeric_limits<double>::infinity());
    if (token_here == "##-Inf") return builder_.real(-std::numeric_limits<double>::infinity());
    if (token_here == "##NaN") return builder_.real(std::numeric_limits<double>::quiet_NaN());
    throw Complaint(fmt::format("{} is unknown; there are ##Inf, ##-Inf and ##NaN", in_quotes(token_here)), from);
  }
  return text(token_here);
}

RecordedValue EdnParser::number(std::string_view digits, const char* from) {
  if (digits[0] == '+') digits.remove_prefix(1);
  std::string_view plain = digits;
  if (plain.back() == 'N' || plain.back() == 'M') plain.remove_suffix(1);
  const char* const stop = plain.data() + plain.size();
  std::int64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(plain.data(), stop, whole);
  if (whole_end == stop) {
    if (whole_error == std::errc()) return skipping_ > 0 ? RecordedValue() : builder_.integer(whole);
    return text(plain);
  }
  double real = 0;
  const auto [real_end, real_error] = std::from_chars(plain.data(), stop, real);
  if (real_end == stop && digits.back() != 'N') {
    if (real_error != std::errc()) return text(plain);
    return skipping_ > 0 ? RecordedValue() : builder_.real(real);
  }
  if (is_ratio(digits)) return text(digits);
  throw Complaint(fmt::format("{} is no number; put it in quotes if it is a text", in_quotes(digits)), from);
}

}  // namespace holdfast::formats
