#include "cli/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
    {{"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
constexpr double kLongest = 24 * 3600e9;

}  // namespace

Time parse_duration(std::string_view option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, nanoseconds] : kUnits) {
    if (error != std::errc{} || unit != name || !std::isfinite(number)) continue;
    if (number < 0) throw UsageError(fmt::format("{} {}: a time cannot be negative", option, text));
    if (number * nanoseconds > kLongest)
      throw UsageError(fmt::format("{} {}: more than a day; use at most 24h", option, text));
    return Time(static_cast<std::int64_t>(number * nanoseconds));
  }
  throw UsageError(fmt::format("{} {}: not a length of time; write 500ms, 30s, 2m or 1h", option, text));
}

std::string to_text(Time duration) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return milliseconds % 1000 == 0 ? fmt::format("{}s", milliseconds / 1000) : fmt::format("{}ms", milliseconds);
}

}  // namespace holdfast
