// `check --model`, `verify` and `run --stop-on-violation`, as a user types them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"
#include "harness/event.h"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string golden(const std::string& file) {
  return fs::path(HOLDFAST_SOURCE_FOLDER) / "checkers/testdata" / file;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(CheckModel, SaysWhyAHistoryIsImpossible) {
  const Ran ran = run_holdfast({"check", golden("register-stale-read.jsonl"), "--model", "register"});
  EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("linearizable as register"), HasSubstr("BROKEN"), HasSubstr("process 1's read")));
}

TEST(CheckModel, HoldsOnTheCorrectTwin) {
  const Ran ran = run_holdfast({"check", golden("register-valid.jsonl"), "--model", "register"});
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

TEST(CheckModel, ReadsJepsensForms) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "h.edn") << "{:process 0, :type :invoke, :f :write, :value 1}\n"
                                            "{:process 0, :type :ok, :f :write, :value 1}\n"
                                            "{:process 1, :type :invoke, :f :read, :value nil}\n"
                                            "{:process 1, :type :ok, :f :read, :value nil}\n";
  const Ran ran = run_holdfast({"check", "h.edn", "--model", "cas-register"}, folder.path());
  EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
}

TEST(CheckModel, AHistoryWithoutAnyEffectIsUnknown) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "h.edn") << "{:process 0, :type :invoke, :f :write, :value 1}\n"
                                            "{:process 0, :type :info, :f :write, :value 1}\n";
  EXPECT_EQ(run_holdfast({"check", "h.edn", "--model", "register"}, folder.path()).exit_code, 2);
}

TEST(Verify, AcceptsACertificateAndRefusesAForgedOne) {
  for (const auto& [file, model, code] :
       {std::tuple("mutex-two-holders.jsonl", "mutex", 1), std::tuple("mutex-valid.jsonl", "mutex", 0)}) {
    const ScratchFolder folder;
    const fs::path certificate = folder.path() / "c.jsonl";
    const Ran checked = run_holdfast({"check", golden(file), "--model", model, "--certificate", certificate});
    ASSERT_EQ(checked.exit_code, code) << checked.output << checked.errors;
    const Ran verified = run_holdfast({"verify", golden(file), "--certificate", certificate});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    EXPECT_THAT(verified.output, HasSubstr("✓ L1"));
    Value forged = Value::parse(text_of(certificate));
    forged["answer"] = code == 1 ? "linearizable" : "violation";
    std::ofstream(certificate) << forged.dump() << '\n';
    const Ran refused = run_holdfast({"verify", golden(file), "--certificate", certificate});
    EXPECT_EQ(refused.exit_code, 1) << refused.output << refused.errors;
  }
}

TEST(Verify, AnObjectThatNoCertificateSpeaksOfIsNotVerified) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "h.jsonl") << R"({"type":"invoke","process":0,"f":"write","key":"x","value":1})" << '\n'
                                           << R"({"type":"ok","process":0,"f":"write","key":"x","value":1})" << '\n'
                                           << R"({"type":"invoke","process":0,"f":"write","key":"y","value":1})" << '\n'
                                           << R"({"type":"ok","process":0,"f":"write","key":"y","value":1})" << '\n';
  const fs::path certificate = folder.path() / "c.jsonl";
  run_holdfast({"check", "h.jsonl", "--model", "register", "--certificate", certificate}, folder.path());
  ASSERT_EQ(run_holdfast({"verify", "h.jsonl", "--certificate", certificate}, folder.path()).exit_code, 0);
  const std::string both = text_of(certificate);
  std::ofstream(certificate) << both.substr(0, both.find('\n') + 1);
  const Ran half = run_holdfast({"verify", "h.jsonl", "--certificate", certificate}, folder.path());
  EXPECT_EQ(half.exit_code, 1);
  EXPECT_THAT(half.output, HasSubstr("no certificate speaks of it"));
}

TEST(StopOnViolation, EndsTheRunAtTheBreakWithAProofThatHolds) {
  const std::string obstacle = private_world_obstacle();
  if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
  const ScratchFolder folder;
  const Ran ran = run_holdfast({"run", "L05", "--seed", "1", "--time", "60s", "--stop-on-violation"}, folder.path());
  EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("both believed to hold the lock"));
  EXPECT_THAT(text_of(folder.path() / "store/latest/holdfast.log"), HasSubstr("stopped at event"));
  const Value results = Value::parse(text_of(folder.path() / "store/latest/results.json"));
  EXPECT_LT(results["stats"]["duration_ns"].get<double>(), 50e9) << results["stats"];
  const Ran verified = run_holdfast({"verify", "latest"}, folder.path());
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, HasSubstr("✓ L1: valid as lease mutex, by an order of"));
}

}  // namespace
}  // namespace holdfast
