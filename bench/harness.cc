// Operations per second through the whole harness (generator, journal, pipe, client process and back), with clients
// that do nothing and against one real Redis, beside redis-benchmark with as many connections and no pipelining in the
// same run. Aim: 100,000 recorded operations/s with no-op clients on 2 cores; 60 % of redis-benchmark's rate.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/session.h"
#include "clusters/local/cluster.h"
#include "clusters/systems/redis.h"
#include "clusters/systems/registry.h"
#include "harness/error.h"
#include "harness/runner.h"
#include "workloads/registry.h"

namespace {

using namespace holdfast;  // NOLINT(google-build-using-namespace): a program, not a library
using std::chrono::seconds;

constexpr std::array<std::size_t, 3> kClients = {1, 10, 50};
constexpr auto kLength = seconds(4);

struct Rate {
  double per_second;
  double controller_us;  // processor time of the controller for one operation
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto sum = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return sum(usage.ru_utime) + sum(usage.ru_stime);
}

Rate measure(Cluster& cluster, Server& server, const SystemEntry& system, const char* workload_name,
             std::size_t clients) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("holdfast-bench-{}", ::getpid());
  std::filesystem::remove(file);
  Workload workload =
      find_workload(workload_name).make({.system = &system, .seed = 1, .time_limit = kLength, .locks = 8});
  workload.final_generator = nullptr;
  Recorder recorder(file);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Time from{};
  Time to{};
  double processor = 0;
  run({.system = system,
       .cluster = cluster,
       .server = server,
       .workload = workload,
       .recorder = recorder,
       .concurrency = clients,
       .on_status = [&](const RunStatus& status) {
         if (status.phase != "running") return;
         last = status.ok;
         to = status.now;
         if (from == Time{}) {
           first = last;
           from = to;
           processor = processor_seconds();
         }
       }});
  processor = processor_seconds() - processor;
  recorder.close();
  std::filesystem::remove(file);
  const auto operations = static_cast<double>(last - first);
  return {operations / std::chrono::duration<double>(to - from).count(), processor / operations * 1e6};
}

// The mean of its SET and GET rates: our register workload does as many of one as of the other.
double redis_benchmark(Node& client, const std::string& address, std::size_t clients) {
  const CommandResult result =
      client.must_run({{"redis-benchmark", "-h", address, "-t", "set,get", "-c", std::to_string(clients), "-n",
                        clients == 1 ? "60000" : "150000", "-r", "8", "--csv"},
                       {}},
                      seconds(60));
  std::istringstream lines(result.output);
  double seconds_per_operation = 0;
  int tests = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("\"SET\"") && !line.starts_with("\"GET\"")) continue;
    seconds_per_operation += 1 / std::strtod(line.c_str() + line.find(",\"") + 2, nullptr);
    ++tests;
  }
  if (tests != 2) throw Error("redis-benchmark printed no rates: " + result.output);
  return tests / seconds_per_operation;
}

}  // namespace

int main() {
  ::signal(SIGPIPE, SIG_IGN);
  LocalCluster cluster({.servers = 1, .clients = 5, .program_folder = our_program_folder()});
  const std::unique_ptr<Server> redis = make_redis();
  redis->start(*cluster.servers()[0]);
  const SystemEntry noop{
      .name = "noop", .leases = false, .workloads = {"noop"}, .client = {"{programs}/holdfast-noop-client"}};
  fmt::print("{:>8} {:>16} {:>16} {:>16} {:>16} {:>8} {:>16}\n", "clients", "no-op ops/s", "controller µs",
             "redis ops/s", "redis-benchmark", "ratio", "controller µs");
  for (const std::size_t clients : kClients) {
    const Rate nothing = measure(cluster, *redis, noop, "noop", clients);
    const Rate real = measure(cluster, *redis, find_system("redis-register"), "register", clients);
    const double peer = redis_benchmark(*cluster.clients()[0], cluster.servers()[0]->address(), clients);
    fmt::print("{:>8} {:>16.0f} {:>16.1f} {:>16.0f} {:>16.0f} {:>7.0f}% {:>16.1f}\n", clients, nothing.per_second,
               nothing.controller_us, real.per_second, peer, 100 * real.per_second / peer, real.controller_us);
    std::fflush(stdout);
  }
  redis->stop(*cluster.servers()[0]);
  return 0;
}
