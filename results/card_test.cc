#include "results/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "results/card_svg.h"
#include "results/golden.h"
#include "results/text.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// The text is compared with a file that a person has read. HOLDFAST_APPROVE=1 writes the file anew; read the diff.
void approve(const std::string& text, const std::string& name) {
  const fs::path file = testdata() / name;
  if (std::getenv("HOLDFAST_APPROVE") != nullptr) write_file(file, text);
  EXPECT_EQ(text, read_file(file)) << "if this is what you want: HOLDFAST_APPROVE=1, then look at git diff";
}

std::string card_of(const std::string& name, const CardStyle& style = {}) {
  const GoldenRun run(name);
  return run_card(run.info, run.results, run.folder, style);
}

Audit golden_audit() {
  Audit audit{
      .system = "redis-setpx-lua", .workload = "lock", .seed = 42, .argv = {"audit", "redis-setpx-lua"}, .runs = {}};
  for (const auto& [label, name] :
       {std::pair{"none", "valid"}, {"pause:holder@reading", "broken"}, {"kill:holder", "empty"}}) {
    const GoldenRun run(name);
    audit.runs.push_back(
        {.label = label, .folder = run.folder, .info = run.info, .results = run.results, .crashed = ""});
  }
  return audit;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(Card, of_golden_runs) {
  for (const char* name : {"valid", "broken", "empty", "hostile"})
    approve(card_of(name), std::string(name) + "/card.txt");
}

TEST(Card, of_an_audit) {
  approve(audit_card(golden_audit(), "store/audit/20261118T055606.123/audit.html", {}), "audit-card.txt");
}

TEST(Card, of_an_audit_with_a_crash_and_many_faults) {
  Audit audit = golden_audit();
  for (const char* label : {"partition:holder", "kill:server", "pause:server", "clock"}) {
    audit.runs.push_back(audit.runs[0]);
    audit.runs.back().label = label;
  }
  audit.runs.back().results = {};
  audit.runs.back().crashed = "n1: redis-server does not start: port 6379 is taken";
  approve(audit_card(audit, "", {}), "audit-wide-card.txt");
}

TEST(Card, is_never_wider_than_asked) {
  for (const std::size_t width : {80U, 90U, 100U}) {
    for (const char* name : {"valid", "broken", "empty", "hostile"}) {
      EXPECT_LE(widest_line(card_of(name, {.colour = true, .width = width})), width) << name;
    }
    EXPECT_LE(widest_line(audit_card(golden_audit(), "", {.colour = true, .width = width})), width);
  }
}

TEST(Card, a_long_command_can_still_be_copied) {
  GoldenRun run("broken");
  run.info.argv = {"run",          "redis-setpx-lua",    "--faults",     "pause:holder@reading,kill:holder",
                   "--nodes-file", std::string(40, 'n'), "--ssh-config", std::string(30, 's')};
  const std::string card = run_card(run.info, run.results, run.folder, {});
  EXPECT_LE(widest_line(card), 100U);
  EXPECT_THAT(card, HasSubstr(" \\\n             --"));
}

TEST(Card, colour_changes_nothing_but_colour) {
  std::string coloured = card_of("broken", {.colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31m✗ BROKEN\x1b[0m"));
  for (std::size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  EXPECT_EQ(coloured, card_of("broken"));
}

TEST(Card, no_colour_where_nobody_sees_it) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(card_style_for(ends[1]).colour);
  EXPECT_EQ(card_style_for(ends[1]).width, 100U);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Card, a_history_cannot_steer_the_terminal) {
  GoldenRun run("broken");
  run.results.properties[1].verdict.findings[0].because = "title \x1b]0;owned\x07 and \x1b[2J";
  EXPECT_THAT(run_card(run.info, run.results, run.folder, {}), Not(HasSubstr("\x1b")));
}

TEST(CardSvg, keeps_every_word_and_escapes) {
  const std::string svg = card_to_svg("a \x1b[1;31mB & <c>\x1b[0m\nsecond", "./holdfast run L05");
  EXPECT_THAT(svg, HasSubstr("class=\"r\""));
  EXPECT_THAT(svg, HasSubstr(">B &amp; &lt;c&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr(">second</text>"));
  EXPECT_THAT(svg, HasSubstr(">./holdfast run L05</text>"));
}

TEST(Audit, exit_code_is_the_worst_news) {
  Audit audit = golden_audit();
  EXPECT_EQ(exit_code(audit), 1);
  audit.runs[0].crashed = "died";
  EXPECT_EQ(exit_code(audit), 1) << "a broken promise is worse news than a crash";
  audit.runs.erase(audit.runs.begin() + 1);
  EXPECT_EQ(exit_code(audit), 255);
  audit.runs[0].crashed.clear();
  EXPECT_EQ(exit_code(audit), 0) << "what one run put to the test and held, another need not test again";
  audit.runs.erase(audit.runs.begin());
  EXPECT_EQ(exit_code(audit), 2);
  audit.runs.clear();
  EXPECT_EQ(exit_code(audit), 2);
}

TEST(Audit, reads_back_from_its_folder) {
  const TemporaryFolder store;
  const Audit audit = golden_audit();
  Audit stored = audit;
  for (AuditRun& run : stored.runs) {
    const RunFolder folder = RunFolder::create(store.path(), run.info);
    folder.write("results.json", to_json_text(run.results));
    run.folder = folder.path();
  }
  const fs::path folder = store.path() / "audit";
  fs::create_directory(folder);
  write_file(folder / "audit.json", audit_to_json_text(stored, folder));
  const Audit back = read_audit(folder);
  ASSERT_EQ(back.runs.size(), 3U);
  EXPECT_TRUE(fs::equivalent(back.runs[1].folder, stored.runs[1].folder));
  EXPECT_EQ(audit_rows(back).size(), audit_rows(audit).size());
  EXPECT_EQ(back.seed, 42U);
}

}  // namespace
}  // namespace holdfast
