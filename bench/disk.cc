// What a disk of its own costs a local node, and how long a power loss takes.
// The peer in the same run is a node whose data folder is in memory, as it is without a disk fault.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/session.h"
#include "clusters/local/cluster.h"
#include "clusters/systems/redis.h"
#include "harness/disk.h"

namespace {

using holdfast::Node;
using std::chrono::seconds;

constexpr int kRounds = 7;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Action>
double milliseconds(Action action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Acknowledged SETs per second, each synced first, 50 connections.
double throughput(Node& node) {
  const std::string script = fmt::format(
      "redis-benchmark -h {} -p 6379 -n 20000 -c 50 -t set --csv | tail -n 1 | cut -d '\"' -f 4", node.address());
  return std::stod(node.must_run({{"sh", "-c", script}, {}}, seconds(120)).output);
}

}  // namespace

int main() {
  std::vector<double> making;
  std::vector<double> cutting;
  std::vector<double> returning;
  std::vector<double> on_disk;
  std::vector<double> in_memory;
  for (int round = 0; round < kRounds; ++round) {
    holdfast::LocalCluster cluster({.servers = 2, .clients = 1, .program_folder = holdfast::our_program_folder()});
    Node& with = *cluster.servers()[0];
    Node& without = *cluster.servers()[1];
    making.push_back(milliseconds([&] { static_cast<void>(with.disk()); }));
    const auto redis = holdfast::make_redis();
    redis->start(with);
    redis->start(without);
    on_disk.push_back(throughput(with));
    in_memory.push_back(throughput(without));
    cutting.push_back(milliseconds([&] {
      with.disk().cut();
      redis->kill(with);
      with.disk().put_back();
    }));
    returning.push_back(milliseconds([&] { redis->start(with); }));
  }
  fmt::print("A disk of the node's own, median of {}\n", kRounds);
  fmt::print("  put into a node                     {:8.1f} ms\n", median(making));
  fmt::print("  power loss, until mounted again     {:8.1f} ms\n", median(cutting));
  fmt::print("  and until redis-server answers      {:8.1f} ms\n", median(returning));
  fmt::print("  SET, synced, 50 connections         {:8.0f} /s, in memory {:.0f} /s: {:.2f} ×\n", median(on_disk),
             median(in_memory), median(on_disk) / median(in_memory));
  return 0;
}
