// What the switch costs when no fault is active, beside plain veth cables and a bridge between the same two nodes in
// the same run, and how late it hands out frames that it was told to delay. Aims: at 50 connections at least 70 % of
// the bridge's Redis SETs per second; at one connection at most 40 µs more in the median; delayed frames at most 100 µs
// late in 99 of 100 cases; no frame lost that no fault asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "clusters/local/cluster.h"
#include "harness/error.h"

namespace {

using namespace holdfast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPlainServer = "10.98.0.1";
constexpr const char* kPlainClient = "10.98.0.2";
constexpr int kRounds = 5;

void must(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw Error(fmt::format("failed: {}", command));
}

// A second interface in both nodes, on a bridge in the controller's private network.
void lay_plain_cables(Node& server, Node& client) {
  must("ip link add plain type bridge forward_delay 0 && ip link set plain up");
  int number = 0;
  for (Node* node : {&server, &client}) {
    const std::string cable = fmt::format("plain{}", ++number);
    must(fmt::format("ip link add {0} type veth peer name eth1 netns {1} && ip link set {0} master plain up", cable,
                     dynamic_cast<LocalNode&>(*node).init()));
    node->must_run({{"sh", "-c",
                     fmt::format("ip addr add {}/24 dev eth1 && ip link set eth1 up",
                                 node == &server ? kPlainServer : kPlainClient)},
                    {}},
                   seconds(5));
  }
}

struct Speed {
  double per_second = 0;
  double median_us = 0;
  double p99_us = 0;
};

// The CSV's columns: test, rps, average, minimum, p50, p95, p99, maximum (milliseconds).
Speed measure(Node& client, const std::string& address, int connections, int requests) {
  const std::string csv = client
                              .must_run({{"redis-benchmark", "-h", address, "-c", std::to_string(connections), "-n",
                                          std::to_string(requests), "-t", "set", "--csv"},
                                         {}},
                                        seconds(120))
                              .output;
  std::istringstream row(csv.substr(csv.find('\n') + 1));
  std::vector<double> fields;
  for (std::string field; std::getline(row, field, ',');) {
    field.erase(std::remove(field.begin(), field.end(), '"'), field.end());
    fields.push_back(std::strtod(field.c_str(), nullptr));
  }
  if (fields.size() < 8) throw Error(fmt::format("redis-benchmark printed: {}", csv));
  return {fields[1], fields[4] * 1000, fields[6] * 1000};
}

double median(std::vector<Speed>& speeds, double Speed::* member) {
  std::ranges::sort(speeds, {}, member);
  return speeds[speeds.size() / 2].*member;
}

void compare(Node& client, const std::string& ours, int connections, int requests) {
  std::vector<Speed> plain;
  std::vector<Speed> switched;
  for (int round = 0; round < kRounds; ++round) {
    plain.push_back(measure(client, kPlainServer, connections, requests));
    switched.push_back(measure(client, ours, connections, requests));
  }
  fmt::print(
      "  {:>2} connections   SET/s {:8.0f} of {:8.0f}  ({:.0f} %)   median {:+.0f} µs   p99 {:.0f} µs, {:.2f} ×\n",
      connections, median(switched, &Speed::per_second), median(plain, &Speed::per_second),
      100 * median(switched, &Speed::per_second) / median(plain, &Speed::per_second),
      median(switched, &Speed::median_us) - median(plain, &Speed::median_us), median(switched, &Speed::p99_us),
      median(switched, &Speed::p99_us) / median(plain, &Speed::p99_us));
}

void run_all() {
  LocalCluster cluster(
      {.servers = 1, .clients = 1, .program_folder = std::filesystem::read_symlink("/proc/self/exe").parent_path()});
  Node& server = *cluster.servers()[0];
  Node& client = *cluster.clients()[0];
  lay_plain_cables(server, client);
  const auto redis = server.start_daemon(
      {{"redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--appendonly", "no"}, {}},
      "/data/redis.log");
  client.must_run(
      {{"bash", "-c", fmt::format("until exec 3<>/dev/tcp/{}/6379; do :; done 2>/dev/null", kPlainServer)}, {}},
      seconds(10));
  fmt::print("Switch beside veth and bridge, Redis SET, medians of {} rounds in turn\n", kRounds);
  compare(client, server.address(), 1, 20000);
  compare(client, server.address(), 50, 100000);
  Switch& fabric = dynamic_cast<Fabric&>(cluster.network()).the_switch();
  const Network::Layer layer = cluster.network().impose(
      {{{"c1", "n1"}, {.delay = milliseconds(5)}}, {{"n1", "c1"}, {.delay = milliseconds(5)}}});
  measure(client, server.address(), 1, 500);
  measure(client, server.address(), 50, 20000);
  cluster.network().lift(layer);
  const Lateness late = fabric.lateness();
  const auto microseconds = [&](double share) {
    return std::chrono::duration<double, std::micro>(late.quantile(share)).count();
  };
  fmt::print("  {} frames delayed by 5 ms: late by {:.0f} µs in the median, {:.0f} µs p99, {:.0f} µs p99.9\n",
             late.count(), microseconds(0.5), microseconds(0.99), microseconds(0.999));
  LinkCounts sum;
  for (const LinkCounts& counts : fabric.counts()) sum += counts;
  fmt::print("  {} frames seen; lost for no fault's sake: {} in the switch, {} before it\n", sum.seen, sum.lost,
             fabric.overrun());
}

}  // namespace

int main() {
  try {
    run_all();
  } catch (const Error& error) {
    fmt::print(stderr, "bench-switch: {}\n", error.what());
    return 1;
  }
  return 0;
}
