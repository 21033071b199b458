// Recorded histories with known verdicts: those of public test suites where they are at hand, and our own small ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkers/object_verdict.h"
#include "checkers/verify/verify.h"
#include "harness/formats/readers.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string file;
  std::string model;
  std::string verdict;
};

std::vector<Row> rows_of(const fs::path& index) {
  std::vector<Row> rows;
  std::ifstream lines(index);
  std::string line;
  std::getline(lines, line);  // the head
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    Row row;
    std::string format;
    fields >> row.file >> row.model >> format >> row.verdict;
    if (!row.verdict.empty()) rows.push_back(row);
  }
  return rows;
}

// Answers how many certificates are true but beyond what the verifier tries.
std::size_t expect_verdicts(const fs::path& folder) {
  std::size_t unverified = 0;
  const std::vector<Row> rows = rows_of(folder / "INDEX.tsv");
  EXPECT_FALSE(rows.empty());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    // Knossos' mutex has no owners; its initial multi-register holds zeros.
    ModelOptions options;
    if (row.model == "multi-register") options.initial = 0;
    const std::string model = row.model == "mutex" && row.file.starts_with("knossos/") ? "anonymous-mutex" : row.model;
    const formats::RecordedHistory history = formats::read_recorded(folder / row.file);
    const std::vector<RecordedObject> objects = recorded_objects(history, find_model(model), options);
    const std::vector<objects::Decision> decisions = decide_objects(objects, {});
    const Verdict verdict = verdict_of(history, objects, decisions);
    // Some of the public ones have no operation of known effect: vacuously fine there, never green here.
    const bool vacuous = verdict.exposures == 0 && verdict.validity == Validity::unknown;
    EXPECT_EQ(vacuous ? "valid" : to_string(verdict.validity), row.verdict);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const auto fault = verify::refute(objects[i].promise, objects[i].operations, decisions[i]);
      const bool beyond = fault && fault->starts_with("cannot be verified");
      EXPECT_TRUE(!fault || beyond) << objects[i].key << ": " << *fault;
      unverified += beyond ? 1 : 0;
    }
  }
  return unverified;
}

TEST(Corpus, PublicHistoriesGetTheVerdictOfTheirSource) {
  const fs::path folder = fs::path(HOLDFAST_SOURCE_FOLDER) / "../shared/corpus";
  if (!fs::exists(folder / "INDEX.tsv")) GTEST_SKIP() << "the corpus is not here";
  EXPECT_LE(expect_verdicts(folder), 2U);
}

TEST(Corpus, OurOwnHistoriesGetTheirVerdict) {
  EXPECT_EQ(expect_verdicts(fs::path(HOLDFAST_SOURCE_FOLDER) / "checkers/testdata"), 0U);
}

}  // namespace
}  // namespace holdfast
