#include "checkers/registry.h"

#include <algorithm>
#include <array>

#include "checkers/stats.h"

namespace holdfast {

namespace {

template <typename Kind>
std::unique_ptr<Checker> make(const LockCheckOptions& options) {
  return std::make_unique<Kind>(options);
}

constexpr std::array kTable = {
    CheckerEntry{"stats", "statistics", "counts and latencies; never broken", make<StatsChecker>},
};

}  // namespace

std::span<const CheckerEntry> lock_checker_table() {
  return kTable;
}

std::string_view checker_title(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &CheckerEntry::name);
  return found == kTable.end() ? name : found->title;
}

std::vector<std::unique_ptr<Checker>> lock_checkers(const LockCheckOptions& options) {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.reserve(kTable.size());
  for (const CheckerEntry& entry : kTable) checkers.push_back(entry.make(options));
  return checkers;
}

}  // namespace holdfast
