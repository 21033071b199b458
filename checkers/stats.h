// Stats: what happened, in numbers. Never invalid, and never applicable: it has no
// promise to judge. O(n log n) for the percentiles.
#pragma once

#include "checkers/registry.h"

namespace holdfast {

class StatsChecker : public Checker {
 public:
  explicit StatsChecker(const LockCheckOptions& options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return "stats"; }
  // detail: {"operations":{f:{"ok":…,"fail":…,"info":…,"p50_ms":…,"p99_ms":…,"max_ms":…}},"grants":{key:…},
  //          "handovers":{key:…},"waits":{key:{"p50_ms":…,"p99_ms":…,"max_ms":…,"most_overtaken":…,
  //          "waiting_at_the_end":…,"most_overtaken_at_the_end":…}},"infos":…,"processes":…,"retired":…,"exited":…,"seconds":…}
  [[nodiscard]] Verdict check(const History& history, const Budget& budget) const override;

 private:
  LockCheckOptions options_;
};

}  // namespace holdfast
