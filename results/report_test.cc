#include "results/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "results/drawing.h"
#include "results/golden.h"
#include "results/html.h"
#include "results/report_parts.h"
#include "results/timeline.h"

namespace holdfast {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string report_of(const std::string& name) {
  const GoldenRun run(name);
  return report_html(run.info, run.results, run.file.history, run.folder);
}

Event event(std::uint64_t index, EventType type, std::int64_t process, std::string f, Value value = {}) {
  Event made;
  made.index = index;
  made.type = type;
  made.process = Process{process};
  made.f = std::move(f);
  made.key = "L1";
  made.value = std::move(value);
  made.time = std::chrono::milliseconds(index * 10);
  return made;
}

TEST(Html, escapes_text_and_script_data) {
  EXPECT_EQ(html_escape("<a href='x' b=\"y\">&"), "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
  EXPECT_EQ(json_for_script({{"k", "</script><!--"}}), R"({"k":"\u003c/script>\u003c!--"})");
}

TEST(Html, a_replacement_is_not_a_template) {
  EXPECT_EQ(fill("{{a}}-{{b}}-{{c}} {{", {{"a", "{{b}}"}, {"b", "B"}}), "{{b}}-B-{{c}} {{");
}

TEST(Report, says_what_matters_without_javascript) {
  const std::string html = report_of("broken");
  EXPECT_THAT(html, HasSubstr("<span class=\"word\">invalid</span> 2 promises broken, 3 held, 1 not tested</h1>"));
  EXPECT_THAT(html, HasSubstr("Process 1 was granted L1"));
  EXPECT_THAT(html, HasSubstr("./holdfast run L05 --time 3s --seed 42"));
  EXPECT_THAT(html, HasSubstr("./holdfast check store/redis-setpx-lua-lock-pause/20261118T055606.123"));
  EXPECT_THAT(html, HasSubstr("both believe they hold L1"));
  EXPECT_THAT(html, HasSubstr("pause of process 3 on c4"));
  EXPECT_THAT(html, Not(HasSubstr("statistics")));
}

TEST(Report, every_witness_is_a_link_into_the_timeline) {
  const GoldenRun run("broken");
  const std::string html = report_of("broken");
  for (const PropertyResult& property : run.results.properties) {
    for (const Finding& finding : property.verdict.findings) {
      for (const std::uint64_t index : finding.events)
        EXPECT_THAT(html, HasSubstr(fmt::format("<a href=\"#e={}\">", index)));
    }
  }
}

TEST(Report, asks_the_network_for_nothing) {
  for (const char* name : {"valid", "broken", "empty"}) {
    const std::string html = report_of(name);
    EXPECT_THAT(html, Not(HasSubstr("http://"))) << name;
    EXPECT_THAT(html, Not(HasSubstr("https://"))) << name;
    EXPECT_THAT(html, HasSubstr("default-src 'none'")) << name;
  }
}

TEST(Report, hostile_values_stay_text) {
  const std::string html = report_of("hostile");
  EXPECT_THAT(html, Not(HasSubstr("</script><script>document")));
  EXPECT_THAT(html, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(html, Not(HasSubstr("<b>bold</b>")));
  EXPECT_THAT(html, Not(HasSubstr("<i>pause</i>")));
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;script&gt;"));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));
}

TEST(Report, an_empty_history_is_said_to_be_empty) {
  EXPECT_THAT(report_of("empty"), HasSubstr("The history is empty: nothing was recorded."));
}

TEST(LinkedSentence, links_only_the_findings_own_events) {
  EXPECT_EQ(linked_sentence("at event 7, not event 8; event x & event ", {7}),
            "at <a href=\"#e=7\">event 7</a>, not event 8; event x &amp; event ");
}

TEST(BelievedHolds, end_with_release_loss_exit_or_the_history) {
  std::vector<Event> events;
  events.push_back(event(0, EventType::invoke, 0, "acquire", {{"hold", 1}}));
  events.push_back(event(1, EventType::ok, 0, "acquire"));
  events.push_back(event(2, EventType::invoke, 1, "acquire", {{"hold", 2}}));
  events.push_back(event(3, EventType::ok, 1, "acquire"));
  events.push_back(event(4, EventType::info, 1, "lost", {{"hold", 2}}));
  events.push_back(event(5, EventType::invoke, 2, "acquire", {{"hold", 3}}));
  events.push_back(event(6, EventType::fail, 2, "acquire"));
  events.push_back(event(7, EventType::invoke, 0, "release", {{"hold", 1}}));
  events.push_back(event(8, EventType::invoke, 3, "acquire", {{"hold", 4}}));
  events.push_back(event(9, EventType::ok, 3, "acquire"));
  events.push_back(event(10, EventType::info, 3, "exited", {{"signal", 9}}));
  events.push_back(event(11, EventType::invoke, 4, "acquire", {{"hold", 5}}));
  events.push_back(event(12, EventType::ok, 4, "acquire"));
  events.push_back(event(13, EventType::info, 4, "lost", {{"hold", 99}}));
  const History history(std::move(events));
  const std::vector<BelievedHold> holds = believed_holds(history);
  ASSERT_EQ(holds.size(), 4U);
  EXPECT_EQ(holds[0].ended->index, 7U);
  EXPECT_EQ(holds[1].ended->index, 4U);
  EXPECT_EQ(holds[2].ended->index, 10U);
  EXPECT_EQ(holds[3].ended, nullptr) << "a note about another hold ends nothing";
  EXPECT_EQ(holds[3].end, history.end());
}

TEST(Drawing, shows_the_overlap_only_where_there_is_one) {
  const GoldenRun broken("broken");
  const Drawing drawing(broken.file.history, broken.results.faults);
  const std::string svg = drawing.svg(broken.results.properties[1].verdict.findings[0]);
  EXPECT_THAT(svg, HasSubstr("both believe they hold L1: 62 ms"));
  EXPECT_THAT(svg, HasSubstr("class=\"fault\""));

  const GoldenRun valid("valid");
  const Finding harmless{.kind = "none", .because = "nothing", .events = {1, 20, 40}, .detail = {}};
  EXPECT_THAT(Drawing(valid.file.history, {}).svg(harmless), Not(HasSubstr("overlap")));
}

TEST(Drawing, events_that_are_not_there_draw_nothing) {
  const GoldenRun run("valid");
  const Finding finding{.kind = "x", .because = "x", .events = {100'000}, .detail = {}};
  EXPECT_EQ(Drawing(run.file.history, {}).svg(finding), "");
}

TEST(Timeline, has_every_event_and_each_distinct_value_once) {
  const GoldenRun run("broken");
  const Value data = timeline_data(run.results, run.file.history);
  const auto events = run.file.history.events();
  EXPECT_EQ(data["events"]["time"].size(), events.size());
  EXPECT_TRUE(data["events"]["index"].is_null()) << "a dense history needs no index column";
  EXPECT_EQ(data["operations"]["invoke"].size(), run.file.history.operations().size());
  EXPECT_EQ(data["rows"].size(), 6U);  // processes 0 to 4, and 9 in the lane of 4
  const std::set<Value> distinct(data["values"].begin(), data["values"].end());
  EXPECT_EQ(distinct.size(), data["values"].size());
}

TEST(Index, lists_every_run_and_survives_a_broken_one) {
  const TemporaryFolder store;
  const GoldenRun run("broken");
  const RunFolder good = RunFolder::create(store.path(), run.info);
  good.write("results.json", to_json_text(run.results));
  good.write("report.html", "x");
  RunInfo other = run.info;
  other.name = "other";
  const RunFolder bad = RunFolder::create(store.path(), other);
  bad.write("results.json", "{");
  other.name = "young";
  RunFolder::create(store.path(), other);
  write_index(store.path());
  const std::string html = read_file(store.path() / "index.html");
  EXPECT_THAT(html, HasSubstr("3 runs, newest first"));
  EXPECT_THAT(html, HasSubstr("Process 1 was granted L1"));
  EXPECT_THAT(html, ContainsRegex("href=\"redis-setpx-lua-lock-pause/[0-9T.]+/report.html\""));
  EXPECT_THAT(html, HasSubstr("results.json: "));
  EXPECT_THAT(html, HasSubstr("not checked: still running, or it crashed"));
  EXPECT_THAT(index_html(store.path() / "nowhere"), HasSubstr("Nothing here yet"));
}

TEST(AuditReport, cells_link_to_the_runs) {
  const GoldenRun run("broken");
  const GoldenRun valid("valid");
  Audit audit{
      .system = "redis-setpx-lua", .workload = "lock", .seed = 42, .argv = {"audit", "redis-setpx-lua"}, .runs = {}};
  const auto add = [&](const char* label, const char* folder, const GoldenRun& golden) {
    audit.runs.push_back(
        {.label = label, .folder = folder, .info = golden.info, .results = golden.results, .crashed = ""});
  };
  add("none", "store/a/1", valid);
  add("pause", "store/b/2", run);
  const std::string html = audit_html(audit, "store/audit/3");
  EXPECT_THAT(html, HasSubstr("<a href=\"../../b/2/report.html\"><span class=\"mark broken\">BROKEN</span></a>"));
  EXPECT_THAT(html, HasSubstr("2 of 7 promises broken by at least one fault"));
  EXPECT_THAT(html, ContainsRegex("href=\"../../b/2/report.html#e=[0-9]+\""));
}

}  // namespace
}  // namespace holdfast
