// Text laid out in columns: widths in what a terminal shows, not in bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

std::size_t display_width(std::string_view text);  // code points; escape sequences count nothing
std::string padded(std::string text, std::size_t width);
// Greedy; a word longer than the line is cut, so that no line is ever wider. Never empty: no text is one empty line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
// Control characters made harmless: what a history says must not steer a terminal.
std::string printable(std::string_view text);

std::string grouped(std::uint64_t number);                             // "12,345"
std::string duration_text(std::chrono::nanoseconds time);              // "12.381 s", "84 ms" below a second
std::string counted(std::uint64_t number, std::string_view singular);  // "1 fault", "3 faults"

}  // namespace holdfast
