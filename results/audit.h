// An audit: one system, one run per fault, and the report card over all of them. audit.json in the audit's own folder
// names the runs; each run keeps its own results.json, so an audit can be put together again from the store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/results.h"
#include "results/store.h"

namespace holdfast {

struct AuditRun {
  std::string label;             // the column: "none", "pause", "kill"
  std::filesystem::path folder;  // the run's folder
  RunInfo info;
  RunResults results;
  std::string crashed;  // why there are no results; empty: there are
};

struct Audit {
  std::string system;
  std::string workload;
  std::uint64_t seed = 0;
  std::vector<std::string> argv;  // as in RunInfo
  std::vector<AuditRun> runs;
};

// 1 invalid > 255 crashed > 2 unknown > 0 valid. A promise that no run put to the test makes an audit unknown; one that
// some run did and others did not is no worse than what those runs saw.
int exit_code(const Audit& audit);

// One row of the card per property that any run speaks of, in the order of first appearance.
struct AuditRow {
  std::string name;
  std::string title;
  std::vector<Mark> marks;           // one per run
  const Finding* telling = nullptr;  // the most telling finding; null: not broken
  const AuditRun* broken_in = nullptr;
};
std::vector<AuditRow> audit_rows(const Audit& audit);  // points into `audit`

std::string audit_to_json_text(const Audit& audit, const std::filesystem::path& folder);
Audit read_audit(const std::filesystem::path& folder);  // audit.json and the results of the runs it names

}  // namespace holdfast
