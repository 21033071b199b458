// What it costs a process of a local node to ask for the time through the shim, and a server to live with it.
// The peer in the same run is the same program on the same node without the shim.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/session.h"
#include "clusters/local/cluster.h"
#include "harness/clock.h"

namespace {

using holdfast::Node;
using std::chrono::seconds;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// `env -u` takes the shim away from what it starts.
std::vector<std::string> command(bool shim, std::vector<std::string> words) {
  if (!shim) words.insert(words.begin(), {"env", "-u", "LD_PRELOAD"});
  return words;
}

double cost(Node& node, bool shim) {
  return std::stod(node.must_run({command(shim, {"/holdfast/holdfast-clock-probe", "cost"}), {}}, seconds(60)).output);
}

double start(Node& node, bool shim) {
  constexpr int kStarts = 50;
  const auto begin = std::chrono::steady_clock::now();
  node.must_run({command(shim, {"sh", "-c", "for i in $(seq 50); do /bin/true; done"}), {}}, seconds(60));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / kStarts;
}

// Commands per second of a redis-server, 50 connections.
double throughput(Node& node, bool shim) {
  const auto server = node.start_daemon({command(shim, {"redis-server", "--bind", node.address(), "--port", "7000",
                                                        "--protected-mode", "no", "--save", "", "--dir", "/data"}),
                                         {}},
                                        "/data/bench.log");
  const std::string script = fmt::format(
      "until redis-cli -h {0} -p 7000 ping > /dev/null 2>&1; do :; done; "
      "redis-benchmark -h {0} -p 7000 -n 60000 -c 50 -t set --csv | tail -n 1 | cut -d '\"' -f 4",
      node.address());
  return std::stod(node.must_run({{"env", "-u", "LD_PRELOAD", "sh", "-c", script}, {}}, seconds(120)).output);
}

void compare(const char* what, const char* unit, Node& node, double (*measure)(Node&, bool)) {
  std::vector<double> with;
  std::vector<double> without;
  for (int i = 0; i < 7; ++i) {
    with.push_back(measure(node, true));
    without.push_back(measure(node, false));
  }
  fmt::print("  {:<44} {:10.1f} {:<4} {:10.1f} without   {:5.2f} ×\n", what, median(with), unit, median(without),
             median(with) / median(without));
}

}  // namespace

int main() {
  holdfast::LocalCluster cluster({.servers = 1, .clients = 1, .program_folder = holdfast::our_program_folder()});
  Node& node = *cluster.servers()[0];
  fmt::print("The clock shim, median of 7\n");
  compare("clock_gettime, honest clock", "ns", node, cost);
  node.clock()->jump(seconds(60));
  compare("clock_gettime, a minute ahead", "ns", node, cost);
  node.clock()->drift(0.1, 0);
  compare("clock_gettime, drifting", "ns", node, cost);
  node.clock()->heal();
  compare("start of /bin/true", "ms", node, start);
  compare("redis-server, SET by 50 connections", "/s", node, throughput);
  return 0;
}
