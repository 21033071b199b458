#include "results/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// The number of bytes that hold the first `width` code points.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (starts_code_point(text[at]) && seen++ == width) break;
  }
  return at;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size());
      continue;
    }
    if (starts_code_point(text[at])) ++width;
  }
  return width;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = display_width(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 1);
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    while (display_width(word) > width) {
      const std::size_t cut = bytes_of(word, width);
      lines.back() += word.substr(0, cut);
      lines.emplace_back();
      word.remove_prefix(cut);
    }
    lines.back() += word;
  }
  return lines;
}

std::string printable(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '\n' || byte == '\t') {
      safe += ' ';
    } else if (byte < 0x20 || byte == 0x7F) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string duration_text(std::chrono::nanoseconds time) {
  const double milliseconds = static_cast<double>(time.count()) / 1e6;
  if (time.count() == 0) return "0 ms";
  if (milliseconds < 1) return fmt::format("{:.2f} ms", milliseconds);
  if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
  return milliseconds < 100'000 ? fmt::format("{:.3f} s", milliseconds / 1000)
                                : fmt::format("{:.0f} s", milliseconds / 1000);
}

std::string counted(std::uint64_t number, std::string_view singular) {
  return fmt::format("{} {}{}", grouped(number), singular, number == 1 ? "" : "s");
}

}  // namespace holdfast
