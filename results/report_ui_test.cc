// The report as a browser sees it: report.html#selftest tries its own controls and leaves what it saw in an attribute.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "results/golden.h"
#include "results/report.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

std::string chromium() {
  for (const char* program : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (::access(program, X_OK) == 0) return program;
  }
  return "";
}

std::string unescape(std::string text) {
  for (const auto& [from, to] : {std::pair{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at, std::string_view(from).size(), to);
  }
  return text;
}

class ReportInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (chromium().empty()) GTEST_SKIP() << "no Chromium; `apt-get install chromium` lets this test run";
  }

  std::string dom_of(const std::string& html, const std::string& hash = "#selftest") {
    const fs::path page = folder_.path() / "report.html";
    write_file(page, html);
    const std::string command = fmt::format(
        "{} --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --user-data-dir={}/profile --virtual-time-budget=4000 --dump-dom "
        "'file://{}{}' 2>{}/errors",
        chromium(), folder_.path().string(), page.string(), hash, folder_.path().string());
    std::string dom;
    FILE* const pipe = ::popen(command.c_str(), "re");
    if (pipe == nullptr) return "";
    std::array<char, 65536> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      dom.append(buffer.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << read_file(folder_.path() / "errors");
    return dom;
  }

  Value selftest_of(const std::string& html) {
    const std::string dom = dom_of(html);
    constexpr std::string_view kAttribute = "data-selftest=\"";
    const std::size_t start = dom.find(kAttribute);
    if (start == std::string::npos) {
      ADD_FAILURE() << "the page did not finish its self-test";
      return Value::object();
    }
    const std::size_t from = start + kAttribute.size();
    return Value::parse(unescape(dom.substr(from, dom.find('"', from) - from)));
  }

  TemporaryFolder folder_;
};

std::string report_of(const std::string& name) {
  const GoldenRun run(name);
  return report_html(run.info, run.results, run.file.history, run.folder);
}

double span(const Value& view) {
  return view.at("to").get<double>() - view.at("from").get<double>();
}

TEST_F(ReportInBrowser, shows_the_broken_run_and_obeys_its_controls) {
  const GoldenRun run("broken");
  const Value seen = selftest_of(report_of("broken"));
  EXPECT_THAT(seen.at("problems"), IsEmpty());
  EXPECT_EQ(seen.at("operations"), run.file.history.operations().size());
  EXPECT_EQ(seen.at("faults"), 1);
  EXPECT_EQ(seen.at("findings"), 2);
  EXPECT_GE(span(seen.at("whole")), static_cast<double>(run.file.history.end().count()));
  EXPECT_NEAR(span(seen.at("zoomed")), span(seen.at("whole")) / 2, 1000);
  const Finding& first = run.results.properties[1].verdict.findings[0];
  for (const std::uint64_t index : first.events) {
    const auto time = static_cast<double>(run.file.history.events()[index].time.count());
    EXPECT_GE(time, seen.at("finding").at("from").get<double>());
    EXPECT_LE(time, seen.at("finding").at("to").get<double>());
  }
}

TEST_F(ReportInBrowser, zooms_to_an_event_and_tells_both_its_sides_in_full) {
  const GoldenRun run("broken");
  const Value seen = selftest_of(report_of("broken"));
  EXPECT_LT(span(seen.at("event")), span(seen.at("whole")));
  ASSERT_EQ(seen.at("hit").size(), 2U);
  const Operation& operation = run.file.history.operations()[0];
  EXPECT_EQ(Value::parse(seen.at("hit")[0].get<std::string>()), Value::parse(to_json_line(*operation.invoke)));
  EXPECT_EQ(Value::parse(seen.at("hit")[1].get<std::string>()), Value::parse(to_json_line(*operation.complete)));
}

TEST_F(ReportInBrowser, survives_an_empty_history) {
  const Value seen = selftest_of(report_of("empty"));
  EXPECT_THAT(seen.at("problems"), IsEmpty());
  EXPECT_EQ(seen.at("operations"), 0);
}

TEST_F(ReportInBrowser, hostile_values_run_nothing) {
  const std::string dom = dom_of(report_of("hostile"));
  EXPECT_THAT(dom, HasSubstr("data-selftest"));
  EXPECT_THAT(dom, testing::Not(HasSubstr("data-broken")));
}

TEST_F(ReportInBrowser, a_hash_shows_the_event_in_full) {
  const std::string dom = dom_of(report_of("broken"), "#e=20");
  EXPECT_THAT(dom, HasSubstr("{\"index\":20,"));
}

History many_operations(std::size_t count) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count * 2; ++i) {
    Event event;
    event.index = i;
    event.process = Process{static_cast<std::int64_t>(i / 2 % 10)};
    event.f = i / 2 % 3 == 0 ? "acquire" : "read";
    event.key = "L1";
    event.type = i % 2 == 0 ? EventType::invoke : (i / 2 % 7 == 0 ? EventType::fail : EventType::ok);
    event.value = {{"hold", i / 2}};
    event.time = std::chrono::microseconds(i * 100);
    event.node = fmt::format("c{}", i / 2 % 5);
    events.push_back(std::move(event));
  }
  return History(std::move(events));
}

TEST_F(ReportInBrowser, a_hundred_thousand_operations_are_shown_in_time) {
  const GoldenRun run("valid");
  const History history = many_operations(100'000);
  const std::string html = report_html(run.info, run.results, history, run.folder);
  EXPECT_LT(html.size(), 16U << 20U);
  const auto began = std::chrono::steady_clock::now();
  const Value seen = selftest_of(html);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_THAT(seen.at("problems"), IsEmpty());
  EXPECT_EQ(seen.at("operations"), 100'000);
  EXPECT_LT(took.count(), 30) << "browser start included";
  RecordProperty("seconds", std::to_string(took.count()));
  RecordProperty("megabytes", std::to_string(html.size() >> 20U));
}

}  // namespace
}  // namespace holdfast
