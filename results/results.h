// results.json: what the checkers said about one run. May be written again at any time by `holdfast check`.
//
// The file keeps Jepsen's three words (valid, unknown, invalid); a report card speaks of held, BROKEN and not tested.
// mark_of() is the one place where the former become the latter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/checker.h"
#include "harness/fault.h"
#include "harness/history.h"

namespace holdfast {

struct PropertyResult {
  std::string name;   // stable: "believed-exclusion"
  std::string title;  // for people: "Mutual exclusion at the clients"
  Verdict verdict;
  double milliseconds = 0;  // what checking it took
};

struct Stats {
  struct Count {
    std::uint64_t ok = 0;
    std::uint64_t fail = 0;
    std::uint64_t info = 0;
  };
  std::uint64_t events = 0;
  Count operations;                          // all together
  std::map<std::string, Count> by_function;  // "acquire" -> …
  Time duration{};
  bool truncated = false;  // the controller died: the last line of the history was cut short
};
Stats stats_of(const History& history, bool truncated = false);

struct RunResults {
  Validity validity = Validity::unknown;
  std::vector<PropertyResult> properties;  // in the order of the card
  std::vector<FaultRecord> faults;
  Stats stats;
  Value expected;  // null, or what the scenario's author said would happen
};

// Puts a run's results together. `validity` is the checkers' word on the whole run, which is theirs to decide.
RunResults make_results(Validity validity, std::vector<PropertyResult> properties, const HistoryFile& file);

std::string to_json_text(const RunResults& results);        // indented, properties in order
RunResults results_from_json_text(std::string_view text);   // throws Error that names the field
RunResults read_results(const std::filesystem::path& run);  // of a run folder; UsageError: not checked yet

// Statistics are kept with the properties but promise nothing: they have no row on a card.
bool is_promise(const PropertyResult& property);

// The words of a report card.
enum class Mark : std::uint8_t { held, broken, not_tested, undecided, not_applicable };
Mark mark_of(const Verdict& verdict);
std::string_view to_string(Mark mark);  // "held" "BROKEN" "not tested" "undecided" "n/a"

// "1 of 6 promises broken, 4 held, 1 not tested": the sentence under the verdict.
std::string sentence_of(const RunResults& results);

// What one fault did, for people: "pause of process 4 on c3".
std::string describe(const FaultRecord& fault);

}  // namespace holdfast
