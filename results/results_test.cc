#include "results/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/error.h"
#include "results/golden.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

Verdict verdict(Validity validity, std::uint64_t exposures, bool applicable = true) {
  Verdict made;
  made.validity = validity;
  made.exposures = exposures;
  made.applicable = applicable;
  return made;
}

TEST(Results, golden_files_read_and_write_back_unchanged) {
  for (const char* name : {"valid", "broken", "empty", "hostile"}) {
    const std::string text = read_file(testdata() / name / "results.json");
    EXPECT_EQ(Value::parse(to_json_text(results_from_json_text(text))), Value::parse(text)) << name;
  }
}

TEST(Results, keep_the_order_of_the_properties) {
  const RunResults results = results_from_json_text(read_file(testdata() / "broken/results.json"));
  const RunResults again = results_from_json_text(to_json_text(results));
  ASSERT_EQ(again.properties.size(), results.properties.size());
  EXPECT_EQ(again.properties[0].name, "service-exclusion");
  EXPECT_EQ(again.properties[1].name, "client-exclusion");
  EXPECT_EQ(again.properties[1].verdict.findings.at(0).events, results.properties[1].verdict.findings.at(0).events);
}

TEST(Results, faults_and_stats_are_those_of_the_history) {
  const GoldenRun run("broken");
  RunResults made = make_results(run.results.validity, run.results.properties, run.file);
  made.expected = run.results.expected;
  EXPECT_EQ(to_json_text(made), to_json_text(run.results));
}

TEST(Results, bytes_that_are_no_utf8_do_not_stop_the_writer) {
  RunResults results;
  results.properties.push_back({"p", "a title", verdict(Validity::unknown, 1), 0});
  results.properties[0].verdict.reason = "bad \xff byte";
  EXPECT_THAT(to_json_text(results), HasSubstr("bad"));
}

TEST(Results, a_damaged_file_names_itself_and_the_fix) {
  for (const char* text : {"{", R"({"valid":"maybe"})", "[]"}) {
    try {
      results_from_json_text(text);
      FAIL() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("results.json")) << text;
    }
  }
}

TEST(Results, a_run_that_was_not_checked_says_how) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_results(folder.path()), UsageError);
}

TEST(Mark, vacuous_is_not_held) {
  EXPECT_EQ(mark_of(verdict(Validity::valid, 3)), Mark::held);
  EXPECT_EQ(mark_of(verdict(Validity::valid, 0)), Mark::not_tested);
  EXPECT_EQ(mark_of(verdict(Validity::unknown, 0)), Mark::not_tested);
  EXPECT_EQ(mark_of(verdict(Validity::unknown, 3)), Mark::undecided);
  EXPECT_EQ(mark_of(verdict(Validity::invalid, 0)), Mark::broken);
  EXPECT_EQ(mark_of(verdict(Validity::valid, 3, false)), Mark::not_applicable);
}

TEST(Sentence, counts_what_a_reader_wants_to_know) {
  EXPECT_EQ(sentence_of(GoldenRun("broken").results), "2 promises broken, 3 held, 1 not tested");
  EXPECT_EQ(sentence_of(GoldenRun("valid").results), "all 3 promises held");
  EXPECT_EQ(sentence_of(GoldenRun("empty").results), "1 promise not tested");
  EXPECT_EQ(sentence_of(RunResults{}), "nothing in this history could be judged");
}

TEST(Describe, says_what_a_fault_hit) {
  EXPECT_EQ(describe(GoldenRun("broken").results.faults.at(0)), "pause of process 3 on c4");
  FaultRecord cut;
  cut.kind = "partition";
  cut.nodes = {"c1", "n1"};
  EXPECT_EQ(describe(cut), "partition between c1, n1");
  FaultRecord kill;
  kill.kind = "kill";
  kill.server = true;
  kill.nodes = {"n1"};
  EXPECT_EQ(describe(kill), "kill of the server on n1");
}

}  // namespace
}  // namespace holdfast
