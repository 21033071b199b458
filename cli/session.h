// One run from request to verdict: folder, cluster, system, clients and nemesis, history, logs, checks, report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/workload.h"
#include "nemesis/plan.h"
#include "results/results.h"
#include "results/store.h"

namespace holdfast {

inline constexpr const char* kCertificates = "certificates.jsonl";  // in a run's folder

struct RunRequest {
  std::string name;  // of its folder in the store
  const SystemEntry* system = nullptr;
  std::string workload = "lock";
  std::vector<FaultPlan> faults;
  std::uint64_t seed = 0;
  Time time_limit = std::chrono::seconds(10);
  Time lease = std::chrono::milliseconds(600);
  Time hold = std::chrono::milliseconds(60);
  Time wait = std::chrono::milliseconds(1500);
  std::size_t locks = 1;
  std::size_t concurrency = 5;
  Time operation_limit = std::chrono::seconds(5);
  std::filesystem::path store = "store";
  std::vector<std::string> nodes;  // empty: local nodes
  std::filesystem::path ssh_config;
  Time connect_limit = std::chrono::seconds(10);
  std::vector<std::string> client;  // a client program of the user's own instead of the system's
  std::vector<std::string> argv;    // the command that repeats this run
  bool stop_on_violation = false;   // end the run at the first event that proves one
  Value expected;                   // null, or property -> "held" | "BROKEN"
};

struct RunOutcome {
  std::filesystem::path folder;
  RunInfo info;
  RunResults results;
  std::string crashed;  // why the run did not come to its end; empty: it did

  [[nodiscard]] int exit_code() const;
};

// UsageError before anything was started; what goes wrong later is told by RunOutcome::crashed, with what was recorded
// up to then checked all the same.
RunOutcome execute(const RunRequest& request);

// Judges a run's folder again and writes results.json and report.html.
RunOutcome check_run(const std::filesystem::path& folder);

// Judges a history that stands alone; writes nothing.
RunResults check_history(const std::filesystem::path& file, const std::string& workload);

int exit_code_of(Validity validity);
int worse_exit_code(int a, int b);  // over several runs the worst news wins: 1 > 255 > 2 > 0

// The sentence on whether a scenario came out as it must; empty when nothing was expected.
std::string expectation(const RunResults& results);

[[nodiscard]] bool was_interrupted();  // Ctrl-C during the last run: no further one should be started

std::filesystem::path our_program_folder();

}  // namespace holdfast
