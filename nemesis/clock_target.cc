#include "nemesis/clock_target.h"

#include <fmt/format.h>

#include <cmath>
#include <thread>

#include "harness/error.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPatience(200);  // a server that looks at the clock at all does so several times a second

NodeProcess* running(Server& server, Node& node) {
  try {
    return &server.process(node);
  } catch (const Error&) {
    return nullptr;  // another fault has killed it
  }
}

}  // namespace

ClockTarget clock_target(const std::string& target, Stage& stage, std::optional<std::size_t> lane, Rng& rng) {
  if (target == "holder") {
    HOLDFAST_CHECK(lane.has_value(), "a plan that hits the holder is set off by a client");
    const ClientProcess client = stage.client(*lane);
    if (client.process == nullptr) throw Error("the holder's process is not running any more");
    return {client.node,
            [process = client.process]() { return process.get(); },
            {{"process", number(client.number)}, {"lane", client.lane}, {"node", client.node->name()}},
            milliseconds(0)};
  }
  const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
  if (primaries.empty()) throw Error("there is no primary whose clock could be set");
  Node* const node = primaries[rng.below(primaries.size())];
  return {node,
          [&server = stage.server(), node] { return running(server, *node); },
          {{"node", node->name()}, {"server", true}},
          kPatience};
}

NodeClock& own_clock(Node& node) {
  if (NodeClock* const clock = node.clock()) return *clock;
  throw Error(
      fmt::format("{}: this node's clock is its machine's, which can only be set forward or back: use clock or "
                  "clock-back, or local nodes",
                  node.name()));
}

void need_own_clocks(const std::string& target, Cluster& cluster) {
  for (Node* node : target == "holder" ? cluster.clients() : cluster.servers()) own_clock(*node);
}

ClockReadings told(const ClockTarget& target, Clocks clocks) {
  NodeClock& clock = own_clock(*target.node);
  const NodeProcess* const process = target.process();
  if (process == nullptr) return {};
  const auto deadline = std::chrono::steady_clock::now() + target.patience;
  while (true) {
    const std::optional<ClockReadings> readings = clock.told(*process);
    const bool late = std::chrono::steady_clock::now() >= deadline;
    const bool all = readings && readings->wall.current && (clocks == Clocks::wall || readings->monotonic.current);
    if (readings && (all || late)) return *readings;
    if (late) return {};
    std::this_thread::sleep_for(milliseconds(1));
  }
}

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double wall_ahead(Node& node) {
  const auto ours = [] {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  const double before = ours();
  const std::string text = node.must_run({{"date", "+%s.%N"}, {}}, seconds(5)).output;
  return std::strtod(text.c_str(), nullptr) - (before + ours()) / 2;
}

Effect wall_is_right(const ClockTarget& target) {
  const ClockReading reading = told(target).wall;
  const double measured = reading.current ? in_seconds(reading.ahead) : wall_ahead(*target.node);
  const double allowed = reading.current ? 0 : 1;  // the second way is only as exact as starting a process
  return {std::abs(measured) <= allowed, {{"seconds_ahead", measured}, {"read_by_target", reading.current}}};
}

}  // namespace holdfast
