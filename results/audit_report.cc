#include <fmt/format.h>

#include "results/html.h"
#include "results/report.h"
#include "results/report_parts.h"
#include "results/text.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

std::string_view verdict_word(const Audit& audit) {
  switch (exit_code(audit)) {
    case 0:
      return "valid";
    case 1:
      return "invalid";
    case 2:
      return "unknown";
    default:
      return "crashed";
  }
}

std::string sentence(const std::vector<AuditRow>& rows) {
  std::size_t broken = 0;
  for (const AuditRow& row : rows) broken += row.broken_in == nullptr ? 0U : 1U;
  if (broken == 0) return fmt::format("none of {} was seen to break", counted(rows.size(), "promise"));
  return fmt::format("{} of {} broken by at least one fault", broken, counted(rows.size(), "promise"));
}

std::string link_to(const AuditRun& run, const fs::path& folder) {
  return html_escape((fs::relative(run.folder, folder) / "report.html").generic_string());
}

std::string matrix(const Audit& audit, const std::vector<AuditRow>& rows, const fs::path& folder) {
  std::string html =
      "<section id=\"card\"><h2>Report card</h2><div class=\"scroll\"><table "
      "class=\"matrix\"><thead><tr><th>Promise</th>";
  for (const AuditRun& run : audit.runs) {
    html += fmt::format(R"(<th scope="col"><a href="{}">{}</a></th>)", link_to(run, folder), html_escape(run.label));
  }
  html += "</tr></thead><tbody>";
  for (const AuditRow& row : rows) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", html_escape(row.title));
    for (std::size_t i = 0; i < row.marks.size(); ++i) {
      html += fmt::format("<td><a href=\"{}\">{}</a></td>", link_to(audit.runs[i], folder), mark_span(row.marks[i]));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div></section>";
}

std::string findings(const Audit& audit, const std::vector<AuditRow>& rows, const fs::path& folder) {
  std::string html = "<section id=\"findings\"><h2>Findings</h2>";
  for (const AuditRow& row : rows) {
    if (row.telling == nullptr) continue;
    html += fmt::format(
        "<h3>{} <span class=\"quiet\">under {}</span></h3><article class=\"finding\"><p class=\"because\">{}</p><p "
        "class=\"events\">",
        html_escape(row.title), html_escape(row.broken_in->label), html_escape(row.telling->because));
    const std::string page = link_to(*row.broken_in, folder);
    for (const std::uint64_t event : row.telling->events)
      html += fmt::format("<a href=\"{0}#e={1}\">event {1}</a> ", page, event);
    html += fmt::format("</p>{}</article>", command_line("Repeat", repeat_command(row.broken_in->info)));
  }
  for (const AuditRun& run : audit.runs) {
    if (run.crashed.empty()) continue;
    html += fmt::format("<h3>Crashed <span class=\"quiet\">under {}</span></h3><p>{}</p>", html_escape(run.label),
                        html_escape(run.crashed));
  }
  return html + "</section>";
}

}  // namespace

std::string audit_html(const Audit& audit, const fs::path& folder) {
  const std::vector<AuditRow> rows = audit_rows(audit);
  RunInfo info;
  info.argv = audit.argv;
  info.seed = audit.seed;
  std::string body = fmt::format(
      "<header class=\"{0}\"><p class=\"brand\">Holdfast</p><h1><span class=\"word\">{0}</span> {1}</h1>"
      "<p class=\"subject\">Audit of <b>{2}</b> × {3} × {4}</p>{5}</header><main>",
      verdict_word(audit), html_escape(sentence(rows)), html_escape(audit.system), html_escape(audit.workload),
      counted(audit.runs.size(), "run"), command_line("Repeat", repeat_command(info)));
  body += matrix(audit, rows, folder) + findings(audit, rows, folder) + "</main>";
  return html_page({.title = fmt::format("{}: audit of {}", verdict_word(audit), audit.system),
                    .body = std::move(body),
                    .data = "",
                    .script = true});
}

}  // namespace holdfast
