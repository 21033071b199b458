#include "results/audit.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/error.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

const PropertyResult* property_of(const AuditRun& run, const std::string& name) {
  const auto& properties = run.results.properties;
  const auto found = std::find_if(properties.begin(), properties.end(), [&](const auto& p) { return p.name == name; });
  return found == properties.end() ? nullptr : &*found;
}

// The first finding of the run that has the most to show for it: fewest events to follow, then the earliest.
const Finding* most_telling(const Verdict& verdict) {
  const Finding* best = nullptr;
  for (const Finding& finding : verdict.findings) {
    if (best == nullptr || finding.events.size() < best->events.size()) best = &finding;
  }
  return best;
}

}  // namespace

int exit_code(const Audit& audit) {
  const bool crashed =
      std::any_of(audit.runs.begin(), audit.runs.end(), [](const auto& run) { return !run.crashed.empty(); });
  bool unknown = audit.runs.empty();
  for (const AuditRow& row : audit_rows(audit)) {
    const auto has = [&](Mark mark) { return std::find(row.marks.begin(), row.marks.end(), mark) != row.marks.end(); };
    if (has(Mark::broken)) return 1;
    unknown = unknown || has(Mark::undecided) || (has(Mark::not_tested) && !has(Mark::held));
  }
  if (crashed) return 255;
  return unknown ? 2 : 0;
}

std::vector<AuditRow> audit_rows(const Audit& audit) {
  std::vector<AuditRow> rows;
  for (const AuditRun& run : audit.runs) {
    for (const PropertyResult& property : run.results.properties) {
      const bool known =
          std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == property.name; });
      if (!known && is_promise(property)) rows.push_back({.name = property.name, .title = property.title, .marks = {}});
    }
  }
  for (AuditRow& row : rows) {
    for (const AuditRun& run : audit.runs) {
      const PropertyResult* property = property_of(run, row.name);
      const Mark absent = run.crashed.empty() ? Mark::not_applicable : Mark::not_tested;
      row.marks.push_back(property == nullptr ? absent : mark_of(property->verdict));
      if (row.telling == nullptr && row.marks.back() == Mark::broken) {
        row.telling = most_telling(property->verdict);
        row.broken_in = &run;
      }
    }
  }
  return rows;
}

std::string audit_to_json_text(const Audit& audit, const fs::path& folder) {
  Value runs = Value::array();
  for (const AuditRun& run : audit.runs) {
    Value json = {{"label", run.label}, {"run", fs::relative(run.folder, folder).generic_string()}};
    if (!run.crashed.empty()) json["crashed"] = run.crashed;
    runs.push_back(std::move(json));
  }
  const Value json = {{"system", audit.system},
                      {"workload", audit.workload},
                      {"seed", audit.seed},
                      {"argv", audit.argv},
                      {"runs", std::move(runs)}};
  return json.dump(2, ' ', false, Value::error_handler_t::replace) + "\n";
}

Audit read_audit(const fs::path& folder) {
  Audit audit;
  try {
    const Value json = Value::parse(read_file(folder / "audit.json"));
    audit.system = json.at("system").get<std::string>();
    audit.workload = json.at("workload").get<std::string>();
    audit.seed = json.at("seed").get<std::uint64_t>();
    audit.argv = json.at("argv").get<std::vector<std::string>>();
    for (const Value& each : json.at("runs")) {
      AuditRun run;
      run.label = each.at("label").get<std::string>();
      run.folder = (folder / each.at("run").get<std::string>()).lexically_normal();
      run.crashed = each.value("crashed", "");
      run.info = read_run_info(run.folder);
      if (run.crashed.empty()) run.results = read_results(run.folder);
      audit.runs.push_back(std::move(run));
    }
  } catch (const Value::exception& error) {
    throw UsageError(fmt::format("{}: {}; run the audit again", (folder / "audit.json").string(), error.what()));
  }
  return audit;
}

}  // namespace holdfast
