// How long local nodes take to be made and to be gone: 5 servers, the resource's node and 5 clients.
// Aim: ready in under 2 s, gone in under 1 s. The peer in the same run is `true` started as often, the cheapest thing a
// process can be.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "cli/session.h"
#include "clusters/local/cluster.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Sample {
  double ready;
  double usable;
  double gone;
  double peer;
};

Sample measure() {
  Sample sample{};
  const auto start = Clock::now();
  auto cluster = std::make_unique<holdfast::LocalCluster>(
      holdfast::LocalClusterOptions{.servers = 5, .clients = 5, .program_folder = holdfast::our_program_folder()});
  sample.ready = milliseconds_since(start);
  for (holdfast::Node* node : cluster->all()) node->must_run({{"true"}, {}}, std::chrono::seconds(5));
  sample.usable = milliseconds_since(start);
  const auto end = Clock::now();
  cluster.reset();
  sample.gone = milliseconds_since(end);
  const auto peer = Clock::now();
  for (int i = 0; i < 11; ++i) {
    if (std::system("true") != 0) std::exit(255);
  }
  sample.peer = milliseconds_since(peer);
  return sample;
}

double median(const std::vector<Sample>& samples, double Sample::* member) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*member);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) samples.push_back(measure());
  const double peer = median(samples, &Sample::peer);
  fmt::print("11 nodes (5 servers, resource, 5 clients), median of 10, milliseconds (and × 11 starts of `true`)\n");
  const auto row = [&](const char* name, double Sample::* member) {
    fmt::print("  {:<28} {:8.1f}  {:6.1f} ×\n", name, median(samples, member), median(samples, member) / peer);
  };
  row("ready", &Sample::ready);
  row("ready, one command each", &Sample::usable);
  row("gone", &Sample::gone);
  return 0;
}
