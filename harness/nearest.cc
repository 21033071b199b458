#include "harness/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace holdfast {

namespace {

constexpr std::size_t kMostNames = 3;     // more than this is not a hint but a list
constexpr std::size_t kLongestName = 64;  // nobody mistypes a name into something longer than this

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

bool contains(std::string_view whole, std::string_view part) {
  return std::search(whole.begin(), whole.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != whole.end();
}

std::string list(std::span<const std::string_view> names, std::string_view last_word) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? fmt::format(" {} ", last_word) : ", ";
    text += names[i];
  }
  return text;
}

// A third of the letters may be wrong: with more, every short name would be near every other.
std::vector<std::string_view> nearest_by_letters(std::string_view given, std::span<const std::string_view> known) {
  std::vector<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(1, given.size() / 3);
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (distance > best) continue;
    if (distance < best) nearest.clear();
    best = distance;
    nearest.push_back(name);
  }
  return nearest;
}

std::vector<std::string_view> nearest_by_part(std::string_view given, std::span<const std::string_view> known) {
  std::vector<std::string_view> nearest;
  if (given.size() < 2) return nearest;
  for (const std::string_view name : known) {
    if (contains(name, given)) nearest.push_back(name);
  }
  return nearest;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table; the one before the previous is needed for swapped neighbours.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  if (known.empty()) return "none is known";
  std::vector<std::string_view> nearest;
  if (given.size() <= kLongestName) {
    nearest = nearest_by_letters(given, known);
    if (nearest.empty()) nearest = nearest_by_part(given, known);
  }
  if (nearest.empty()) return fmt::format("known {} {}", known.size() == 1 ? "is" : "are", list(known, "and"));
  if (nearest.size() > kMostNames) nearest.resize(kMostNames);
  return fmt::format("did you mean {}?", list(nearest, "or"));
}

}  // namespace holdfast
