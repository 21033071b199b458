// Characters as UTF-8 writes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::formats {

constexpr bool is_high_surrogate(std::uint32_t code) {
  return code >= 0xD800 && code < 0xDC00;
}
constexpr bool is_low_surrogate(std::uint32_t code) {
  return code >= 0xDC00 && code < 0xE000;
}
constexpr bool is_surrogate(std::uint32_t code) {
  return is_high_surrogate(code) || is_low_surrogate(code);
}

constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}
// How many characters a valid text has.
inline std::size_t utf8_length(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

inline void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    byte(code);
    return;
  }
  if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
  } else {
    if (code < 0x10000) {
      byte(0xE0U | (code >> 12U));
    } else {
      byte(0xF0U | (code >> 18U));
      byte(0x80U | ((code >> 12U) & 0x3FU));
    }
    byte(0x80U | ((code >> 6U) & 0x3FU));
  }
  byte(0x80U | (code & 0x3FU));
}

}  // namespace holdfast::formats
