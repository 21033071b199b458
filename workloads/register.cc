#include "workloads/register.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/stats.h"

namespace holdfast {

namespace {

class ReadsAndWrites final : public Generator {
 public:
  explicit ReadsAndWrites(const WorkloadOptions& options) : rng_(Rng(options.seed).split("register")) {
    for (std::size_t i = 1; i <= std::max<std::size_t>(1, options.locks); ++i) keys_.push_back(fmt::format("r{}", i));
  }

  Next next(const Moment& moment) override {
    while (lanes_.size() <= moment.lane) lanes_.push_back(rng_.split("lane", lanes_.size()));
    Rng& rng = lanes_[moment.lane];
    const std::string& key = keys_[rng.below(keys_.size())];
    if (rng.chance(0.5)) return Next::invoke({.f = "read", .key = key, .value = nullptr});
    return Next::invoke({.f = "write", .key = key, .value = ++last_written_});
  }

 private:
  Rng rng_;
  std::vector<Rng> lanes_;
  std::vector<std::string> keys_;
  std::uint64_t last_written_ = 0;
};

}  // namespace

Workload register_workload(const WorkloadOptions& options) {
  Workload workload;
  workload.generator = time_limit(options.time_limit, std::make_unique<ReadsAndWrites>(options));
  workload.checkers.push_back(std::make_unique<StatsChecker>(LockCheckOptions{.faults = options.faults}));
  return workload;
}

}  // namespace holdfast
