#include "nemesis/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "harness/error.h"

namespace holdfast {

namespace {

struct Number {
  double value = 0;
  std::string unit;
};

Number number_of(const std::string& fault, const std::string& text, const char* form) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(value) || value < 0) {
    throw UsageError(fmt::format("{}: \"{}\" is no {}", fault, text, form));
  }
  return {value, end};
}

struct Unit {
  std::string_view name;
  double factor;
};

double scaled(const std::string& fault, const std::string& text, std::span<const Unit> units, const char* form) {
  const Number number = number_of(fault, text, form);
  const auto unit = std::ranges::find(units, number.unit, &Unit::name);
  if (unit == units.end() || number.value * unit->factor > 9e18) {
    throw UsageError(fmt::format("{}: \"{}\" is no {}", fault, text, form));
  }
  return number.value * unit->factor;
}

constexpr std::array kLengths = {Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array kRates = {Unit{"bit", 1}, Unit{"kbit", 1e3}, Unit{"mbit", 1e6}};
constexpr std::array kShares = {Unit{"%", 0.01}};

}  // namespace

std::chrono::nanoseconds parse_length(const std::string& fault, const std::string& text) {
  return std::chrono::nanoseconds(std::llround(scaled(fault, text, kLengths, "length of time such as 80ms")));
}

void Parameters::at_most(std::size_t count) const {
  if (words.size() > count) throw UsageError(fmt::format("{}: \"{}\" is one parameter too many", fault, words[count]));
}

std::chrono::nanoseconds Parameters::duration(std::size_t index, std::chrono::nanoseconds otherwise) const {
  if (index >= words.size()) return otherwise;
  const std::chrono::nanoseconds length = parse_length(fault, words[index]);
  if (length < std::chrono::microseconds(1) || length > std::chrono::minutes(10)) {
    throw UsageError(fmt::format("{}: {} is not between 1us and 600s", fault, words[index]));
  }
  return length;
}

double Parameters::percentage(std::size_t index, double otherwise) const {
  if (index >= words.size()) return otherwise;
  const double share = scaled(fault, words[index], kShares, "percentage such as 30%");
  if (share <= 0 || share > 1)
    throw UsageError(fmt::format("{}: {} is not above 0% and up to 100%", fault, words[index]));
  return share;
}

std::uint64_t Parameters::rate(std::size_t index, std::uint64_t otherwise) const {
  if (index >= words.size()) return otherwise;
  const double rate = scaled(fault, words[index], kRates, "rate such as 64kbit or 10mbit, per second");
  if (rate < 1000) throw UsageError(fmt::format("{}: {} is less than 1kbit", fault, words[index]));
  return static_cast<std::uint64_t>(rate);
}

bool Parameters::flag(std::size_t index, std::string_view name) const {
  if (index >= words.size()) return false;
  if (words[index] == name) return true;
  throw UsageError(fmt::format("{}: \"{}\" is unknown here; write {} or nothing", fault, words[index], name));
}

Parameters split_parameters(std::string_view fault, std::string_view text) {
  Parameters result;
  result.fault = fault;
  const std::size_t slash = text.find('/');
  result.target = text.substr(0, slash);
  if (slash == std::string_view::npos) return result;
  std::string_view rest = text.substr(slash + 1);
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    result.words.emplace_back(rest.substr(0, comma));
    if (comma == rest.size()) return result;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace holdfast
