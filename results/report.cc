#include "results/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "results/drawing.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/text.h"
#include "results/timeline.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kFindingsShown = 40;  // per promise; results.json has all of them
constexpr std::size_t kDrawingsShown = 8;   // per promise

std::string fact(std::string_view name, std::string_view value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, value);
}

std::string header(const RunInfo& info, const RunResults& results, const fs::path& folder) {
  std::string faults;
  for (const std::string& fault : info.faults) faults += (faults.empty() ? "" : ", ") + fault;
  const Stats::Count& count = results.stats.operations;
  std::string facts = fact("Seed", fmt::format("<code>{}</code>", info.seed));
  facts += fact("Duration", duration_text(results.stats.duration));
  facts += fact("Operations",
                fmt::format("{} ok · {} fail · {} info", grouped(count.ok), grouped(count.fail), grouped(count.info)));
  facts += fact("Faults", results.faults.empty() ? "none" : grouped(results.faults.size()));
  if (!info.started.empty()) facts += fact("Started", html_escape(info.started));
  std::string versions;
  for (const auto& [program, version] : info.versions.items()) {
    versions += fmt::format("{}{} {}", versions.empty() ? "" : " · ", program,
                            version.is_string() ? version.get<std::string>() : version.dump());
  }
  if (!versions.empty()) facts += fact("Versions", html_escape(versions));
  std::string html = fmt::format(
      "<header class=\"{0}\"><p class=\"brand\">Holdfast</p><h1><span class=\"word\">{0}</span> {1}</h1>"
      "<p class=\"subject\"><b>{2}</b> × {3} × {4}</p><dl class=\"facts\">{5}</dl>",
      to_string(results.validity), html_escape(sentence_of(results)), html_escape(info.system),
      html_escape(info.workload), faults.empty() ? "no faults" : html_escape(faults), facts);
  html +=
      command_line("Repeat", repeat_command(info)) + command_line("Re-check", "./holdfast check " + folder.string());
  html +=
      "<p class=\"files\">Files of this run: <a href=\"history.jsonl\">history.jsonl</a> <a "
      "href=\"results.json\">results.json</a> "
      "<a href=\"test.json\">test.json</a></p></header>";
  return html;
}

std::string exposure_of(const Verdict& verdict) {
  if (verdict.exposures == 0)
    return html_escape(verdict.reason.empty() && verdict.applicable ? "never put to the test" : verdict.reason);
  std::string text = fmt::format("<b>{}</b> {}", grouped(verdict.exposures), html_escape(verdict.exposure));
  if (mark_of(verdict) == Mark::undecided) text += ": " + html_escape(verdict.reason);
  return text;
}

std::string card_table(const RunResults& results) {
  std::string rows;
  for (const PropertyResult& property : results.properties) {
    if (!is_promise(property)) continue;
    const std::vector<Finding>& findings = property.verdict.findings;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{:.1f} "
        "ms</td></tr>",
        html_escape(property.title), mark_span(mark_of(property.verdict)), exposure_of(property.verdict),
        findings.empty() ? "" : fmt::format("<a href=\"#p-{}\">{}</a>", html_escape(property.name), findings.size()),
        property.milliseconds);
  }
  return "<section id=\"card\"><h2>Report card</h2><div "
         "class=\"scroll\"><table><thead><tr><th>Promise</th><th>Verdict</th>"
         "<th>Put to the test by</th><th class=\"number\">Findings</th><th class=\"number\">Checked "
         "in</th></tr></thead><tbody>" +
         rows + "</tbody></table></div></section>";
}

std::string witness_list(const Finding& finding, const Drawing& drawing) {
  constexpr std::size_t kShown = 24;
  std::string items;
  for (std::size_t i = 0; i < std::min(finding.events.size(), kShown); ++i) {
    const std::uint64_t index = finding.events[i];
    const Event* event = drawing.event(index);
    std::string text = fmt::format("<a href=\"#e={0}\">event {0}</a>", index);
    if (event != nullptr) {
      const std::string who =
          event->process == Process::nemesis ? "the nemesis" : fmt::format("process {}", number(event->process));
      text += fmt::format(" <span>{} {} {} · {:.3f} s</span>", who, html_escape(event->f), to_string(event->type),
                          static_cast<double>(event->time.count()) / 1e9);
    }
    items += "<li>" + text + "</li>";
  }
  if (finding.events.size() > kShown)
    items += fmt::format("<li>and {} more in results.json</li>", finding.events.size() - kShown);
  return "<ul class=\"events\">" + items + "</ul>";
}

std::string findings_section(const RunResults& results, const Drawing& drawing) {
  std::string html;
  std::size_t ordinal = 0;  // across promises: what n and p step through
  for (const PropertyResult& property : results.properties) {
    const std::vector<Finding>& findings = property.verdict.findings;
    if (findings.empty()) continue;
    html += fmt::format("<h3 id=\"p-{}\">{} {}</h3>", html_escape(property.name), html_escape(property.title),
                        mark_span(mark_of(property.verdict)));
    for (std::size_t i = 0; i < findings.size(); ++i, ++ordinal) {
      if (i >= kFindingsShown) continue;
      html += fmt::format(R"(<article class="finding" id="finding-{}"><p class="because">{}</p>)", ordinal,
                          linked_sentence(findings[i].because, findings[i].events));
      if (i < kDrawingsShown) html += drawing.svg(findings[i]);
      html += witness_list(findings[i], drawing) + "</article>";
    }
    if (findings.size() > kFindingsShown) {
      html += fmt::format("<p class=\"quiet\">{} more findings of this kind are in results.json.</p>",
                          findings.size() - kFindingsShown);
    }
  }
  if (html.empty()) html = "<p class=\"quiet\">No promise was found broken.</p>";
  return "<section id=\"findings\"><h2>Findings</h2>" + html + "</section>";
}

std::string fault_table(const RunResults& results) {
  if (results.faults.empty()) return "";
  std::string rows;
  for (const FaultRecord& fault : results.faults) {
    const bool over = fault.end != Time::max();
    rows += fmt::format(
        "<tr><td><a href=\"#e={}\">{}</a></td><td>{:.3f} "
        "s</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
        fault.start_event, html_escape(describe(fault)), static_cast<double>(fault.start.count()) / 1e9,
        over ? duration_text(fault.end - fault.start) : "to the end", fault.effective ? "seen" : "<b>not seen</b>",
        fault.healed ? "healed" : "<b>not healed</b>",
        html_escape(fault.evidence.dump(-1, ' ', false, Value::error_handler_t::replace)));
  }
  return "<section id=\"faults\"><h2>Faults</h2><div "
         "class=\"scroll\"><table><thead><tr><th>What</th><th>At</th><th>For</th><th>Effect</th>"
         "<th>End</th><th>Evidence</th></tr></thead><tbody>" +
         rows + "</tbody></table></div></section>";
}

constexpr std::string_view kTimelineSection = R"html(<section id="timeline"><h2>Timeline</h2>
<noscript><p class="quiet">The timeline needs JavaScript. Everything above and below is complete without it.</p></noscript>
<div class="tools" hidden><button data-do="out" title="key -">Zoom out</button><button data-do="in" title="key +">Zoom in</button><button data-do="all" title="key 0">Whole run</button><button data-do="previous" title="key p">Previous finding</button><button data-do="next" title="key n">Next finding</button>
<span class="legend"><i class="ok"></i>ok <i class="fail"></i>fail <i class="info"></i>unknown <i class="hold"></i>believed hold <i class="fault"></i>fault</span></div>
<div class="stage"><canvas tabindex="0" role="img" aria-label="Operations of every process over time; the findings above tell what matters in words"></canvas><div class="tip" hidden></div></div>
<p class="quiet keys">Wheel zooms, dragging moves, a click keeps the details below. Keys: n and p next and previous finding, + and - zoom, arrows move, 0 whole run.</p>
<pre id="detail" aria-live="polite" hidden></pre></section>)html";

}  // namespace

std::string report_html(const RunInfo& info, const RunResults& results, const History& history,
                        const fs::path& folder) {
  const Drawing drawing(history, results.faults);
  std::string body =
      header(info, results, folder) + "<main>" + card_table(results) + findings_section(results, drawing);
  if (history.events().empty()) {
    body +=
        "<section id=\"timeline\"><h2>Timeline</h2><p class=\"quiet\">The history is empty: nothing was "
        "recorded.</p></section>";
  } else {
    body += kTimelineSection;
  }
  if (results.stats.truncated) {
    body += "<p class=\"quiet\">The last line of the history was cut short, as after a crash, and left out.</p>";
  }
  body += fault_table(results) + "</main>";
  return html_page({.title = fmt::format("{}: {} · {}", to_string(results.validity), info.system, info.workload),
                    .body = std::move(body),
                    .data = json_for_script(timeline_data(results, history)),
                    .script = true});
}

}  // namespace holdfast
