#include <fmt/format.h>

#include "harness/error.h"
#include "results/html.h"
#include "results/report.h"
#include "results/text.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

const Finding* first_finding(const RunResults& results) {
  for (const PropertyResult& property : results.properties) {
    if (!property.verdict.findings.empty()) return &property.verdict.findings.front();
  }
  return nullptr;
}

struct Row {
  std::string verdict = "no results";
  std::string sentence;
  std::string page;  // beside the run's folder; empty: none was written
};

Row row_of(const fs::path& run) {
  Row row;
  std::error_code ignored;
  for (const char* page : {"report.html", "audit.html"}) {
    if (fs::exists(run / page, ignored)) row.page = page;
  }
  if (fs::exists(run / "audit.json", ignored)) {
    row.verdict = "audit";
    row.sentence = "the report card over several runs";
  } else if (fs::exists(run / "results.json", ignored)) {
    const RunResults results = read_results(run);
    row.verdict = to_string(results.validity);
    const Finding* finding = first_finding(results);
    row.sentence = finding == nullptr ? sentence_of(results) : finding->because;
  } else {
    row.sentence = "not checked: still running, or it crashed";
  }
  return row;
}

std::string table_row(const fs::path& store, const fs::path& run) {
  RunInfo info;
  Row row;
  try {
    row = row_of(run);
    info = read_run_info(run);
  } catch (const Error& error) {  // one bad folder must not hide the others
    row.sentence = error.what();
    info.name = run.parent_path().filename().string();
  }
  std::string faults;
  for (const std::string& fault : info.faults) faults += (faults.empty() ? "" : ", ") + fault;
  const std::string where = run.lexically_relative(store).generic_string();
  const std::string link = html_escape(where + "/" + row.page);
  return fmt::format(
      "<tr><td><span class=\"verdict {}\">{}</span></td><td><a "
      "href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
      row.verdict == "no results" ? "none" : row.verdict, row.verdict, link, html_escape(where),
      html_escape(info.system), faults.empty() ? "none" : html_escape(faults), info.seed, html_escape(row.sentence));
}

}  // namespace

std::string index_html(const fs::path& store) {
  std::string rows;
  const std::vector<fs::path> runs = list_runs(store);
  for (const fs::path& run : runs) rows += table_row(store, run);
  std::string body = fmt::format(
      R"(<header class="index"><p class="brand">Holdfast</p><h1>{}, newest first</h1></header><main><section>)",
      counted(runs.size(), "run"));
  if (runs.empty()) {
    body += "<p class=\"quiet\">Nothing here yet. <code>./holdfast run L05</code> makes the first run.</p>";
  } else {
    body +=
        "<div class=\"scroll\"><table "
        "class=\"runs\"><thead><tr><th>Verdict</th><th>Run</th><th>System</th><th>Faults</th><th>Seed</th>"
        "<th>First finding</th></tr></thead><tbody>" +
        rows + "</tbody></table></div>";
  }
  return html_page({.title = "Holdfast: runs", .body = body + "</section></main>", .data = "", .script = false});
}

void write_index(const fs::path& store) {
  write_file(store / "index.html", index_html(store));
}

}  // namespace holdfast
