#include "adapters/cpp/envelope.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace holdfast {
namespace {

constexpr int kDepthLimit = 64;  // nested arrays and objects; the scanner recurses

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Envelope envelope() {
    Envelope result;
    skip_space();
    expect('{');
    skip_space();
    if (!take('}')) {
      do {
        field(result);
      } while (take(','));
      expect('}');
    }
    if (at_ < text_.size()) fail("text after the object");
    return result;
  }

 private:
  void field(Envelope& result) {
    skip_space();
    const std::string_view name = string();
    skip_space();
    expect(':');
    skip_space();
    const std::size_t start = at_;
    if (name == "id") {
      result.id = number_field();
    } else if (name == "continue") {
      result.resume = number_field();
    } else if (name == "f") {
      result.f = unescaped(string());
    } else if (name == "key" && peek() == '"') {
      result.key = unescaped(string());
    } else {
      skip_value(0);
      if (name == "value") result.value = text_.substr(start, at_ - start);
      if (name == "stop_at") result.stop_at = text_.substr(start, at_ - start);
    }
    skip_space();
  }

  std::uint64_t number_field() {
    std::uint64_t number = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, number);
    if (error != std::errc() || (stop != end && (*stop == '.' || *stop == 'e' || *stop == 'E')))
      fail("expected a whole number, 0 or more");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return number;
  }

  // The text between the quotes, escapes still in it.
  std::string_view string() {
    expect('"');
    const std::size_t start = at_;
    for (; at_ < text_.size(); ++at_) {
      const char character = text_[at_];
      if (character == '"') return text_.substr(start, at_++ - start);
      if (static_cast<unsigned char>(character) < 0x20) fail("a control character in a string");
      if (character == '\\') escape();
    }
    fail("a string without its closing quote");
  }

  void escape() {
    ++at_;
    const char kind = peek();
    if (kind == 'u') {
      for (int digit = 0; digit < 4; ++digit) {
        ++at_;
        if (std::string_view("0123456789abcdefABCDEF").find(peek()) == std::string_view::npos) fail("bad \\u escape");
      }
    } else if (std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      fail("unknown escape");
    }
  }

  std::string unescaped(std::string_view raw) const {
    if (raw.find('\\') == std::string_view::npos) return std::string(raw);
    const auto parsed = nlohmann::json::parse('"' + std::string(raw) + '"', nullptr, false);
    if (!parsed.is_string()) fail("a string with a broken escape");
    return parsed.get<std::string>();
  }

  void skip_value(int depth) {
    if (depth > kDepthLimit) fail("nested too deep");
    switch (peek()) {
      case '"':
        string();
        return;
      case '{':
        skip_members('}', depth, true);
        return;
      case '[':
        skip_members(']', depth, false);
        return;
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        skip_number();
    }
  }

  void skip_members(char close, int depth, bool named) {
    ++at_;
    skip_space();
    if (take(close)) return;
    do {
      skip_space();
      if (named) {
        string();
        skip_space();
        expect(':');
        skip_space();
      }
      skip_value(depth + 1);
      skip_space();
    } while (take(','));
    expect(close);
  }

  void skip_number() {
    take('-');
    if (!is_digit(peek())) fail("expected a value");
    if (!take('0')) skip_digits();
    if (take('.')) skip_digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      skip_digits();
    }
  }

  void skip_digits() {
    if (!is_digit(peek())) fail("expected a digit");
    while (is_digit(peek())) ++at_;
  }

  void word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) fail("expected a value");
    at_ += expected.size();
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char expected) {
    if (peek() != expected || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char expected) {
    if (!take(expected)) fail(std::string("expected '") + expected + "'");
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw MalformedLine("column " + std::to_string(at_ + 1) + ": " + why);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Envelope parse_envelope(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
  return Scanner(line).envelope();
}

}  // namespace holdfast
