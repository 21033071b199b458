// Every fault of the network on real nodes: what it does to packets that are counted one by one, and that it ends.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>

#include "clusters/local/world.h"
#include "nemesis/links.h"
#include "nemesis/partition.h"
#include "nemesis/shaping.h"
#include "nemesis/stage_test.h"
#include "nemesis/wire_test.h"

namespace holdfast {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

class NetworkFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    stage = std::make_unique<TestStage>(LocalClusterOptions{1, 2, HOLDFAST_PROGRAM_FOLDER, 7});
  }
  Node& server() { return *stage->cluster().servers()[0]; }
  Node& client() { return *stage->cluster().clients()[0]; }
  static std::string address6(Node& node) {
    const std::string hosts = node.must_run({{"getent", "ahostsv6", "ip6-" + node.name()}, {}}, seconds(5)).output;
    return hosts.substr(0, hosts.find(' '));
  }

  // Sends so many and gives what arrived, in order. They are sent in small groups: no buffer overflows.
  static std::vector<Wire::Arrival> stream(Wire& wire, std::uint32_t count, std::size_t size = 64) {
    std::vector<Wire::Arrival> arrived;
    for (std::uint32_t i = 0; i < count; ++i) {
      wire.send(i, size);
      if (i % 16 != 15) continue;
      while (const auto arrival = wire.receive(milliseconds(0))) arrived.push_back(*arrival);
    }
    while (const auto arrival = wire.receive(milliseconds(300))) arrived.push_back(*arrival);
    return arrived;
  }
  void expect_healed(Wire& wire, ActiveFault& fault) {
    EXPECT_TRUE(fault.heal().seen);
    const std::vector<Wire::Arrival> arrived = stream(wire, 200);
    ASSERT_EQ(arrived.size(), 200U) << "all arrive again, once each";
    for (std::uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(arrived[i].number == i && arrived[i].whole);
  }

  std::unique_ptr<TestStage> stage;
  Rng rng{1};
};

milliseconds one_way(Wire& wire) {
  const auto start = Clock::now();
  wire.send(0);
  EXPECT_TRUE(wire.receive(seconds(5)));
  return std::chrono::round<milliseconds>(Clock::now() - start);
}

TEST_F(NetworkFaultsTest, DelayIsWhatWasAskedForEachWayAndEnds) {
  Wire there(client(), server());
  Wire back(server(), client());
  const auto fault = make_delay("c1-n1/50ms")->inject(*stage, {}, rng);
  std::vector<milliseconds> ways;
  for (int i = 0; i < 15; ++i) ways.push_back(one_way(there) + one_way(back));
  EXPECT_GE(*std::ranges::min_element(ways), milliseconds(100)) << "never early";
  std::ranges::nth_element(ways, ways.begin() + 7);
  EXPECT_LE(ways[7], milliseconds(110));
  EXPECT_GE(fault->effect().evidence.at("packets_delayed"), 30);
  expect_healed(there, *fault);
  expect_healed(back, *fault);
}

TEST_F(NetworkFaultsTest, WhatIsOnItsWayArrivesInOrderWhenTheDelayEnds) {
  Wire wire(client(), server());
  const auto fault = make_delay("c1>n1/300s")->inject(*stage, {}, rng);
  for (std::uint32_t i = 0; i < 20; ++i) wire.send(i);
  EXPECT_FALSE(wire.receive(milliseconds(50)));
  EXPECT_TRUE(fault->heal().seen);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto arrival = wire.receive(seconds(5));
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->number, i);
  }
}

TEST_F(NetworkFaultsTest, LossLosesThatShareOnThatLinkAlone) {
  Wire wire(client(), server());
  Wire other(*stage->cluster().clients()[1], client());
  const auto fault = make_loss("c1>n1/30%")->inject(*stage, {}, rng);
  const std::size_t arrived = stream(wire, 2000).size();
  const std::uint64_t dropped = fault->effect().evidence.at("packets_dropped");
  EXPECT_EQ(arrived + dropped, 2000U);
  EXPECT_NEAR(static_cast<double>(dropped), 600, 60);
  EXPECT_EQ(stream(other, 500).size(), 500U);
  expect_healed(wire, *fault);
}

TEST_F(NetworkFaultsTest, TheSameSeedLosesTheSamePackets) {
  std::vector<std::set<std::uint32_t>> arrived(2);
  for (auto& numbers : arrived) {
    stage.reset();
    stage = std::make_unique<TestStage>(LocalClusterOptions{1, 2, HOLDFAST_PROGRAM_FOLDER, 99});
    Wire wire(client(), server());
    const auto fault = make_loss("c1>n1/50%")->inject(*stage, {}, rng);
    for (const Wire::Arrival& arrival : stream(wire, 300)) numbers.insert(arrival.number);
  }
  EXPECT_EQ(arrived[0], arrived[1]);
  EXPECT_LT(arrived[0].size(), 300U);
}

TEST_F(NetworkFaultsTest, DuplicatesArriveTwice) {
  Wire wire(client(), server());
  const auto fault = make_duplicate("c1>n1/30%")->inject(*stage, {}, rng);
  const std::size_t arrived = stream(wire, 2000).size();
  const std::uint64_t duplicated = fault->effect().evidence.at("packets_duplicated");
  EXPECT_EQ(arrived, 2000U + duplicated);
  EXPECT_NEAR(static_cast<double>(duplicated), 600, 60);
  expect_healed(wire, *fault);
}

TEST_F(NetworkFaultsTest, ReorderedPacketsAreOvertakenAndNoneIsLost) {
  Wire wire(client(), server());
  const auto fault = make_reorder("c1>n1/25%,20ms")->inject(*stage, {}, rng);
  const std::vector<Wire::Arrival> arrived = stream(wire, 2000);
  EXPECT_EQ(arrived.size(), 2000U);
  std::uint32_t newest = 0;
  std::size_t overtaken = 0;
  for (const Wire::Arrival& arrival : arrived) {
    overtaken += arrival.number < newest ? 1 : 0;
    newest = std::max(newest, arrival.number);
  }
  const double reordered = fault->effect().evidence.at("packets_reordered");
  EXPECT_NEAR(reordered, 500, 50);
  EXPECT_GT(static_cast<double>(overtaken), 0.5 * reordered) << "the last ones of all have nobody behind them";
  EXPECT_LE(static_cast<double>(overtaken), reordered);
  expect_healed(wire, *fault);
}

TEST_F(NetworkFaultsTest, CorruptionIsThrownAwayByTheReceiverOrReachesItUnseen) {
  Wire wire(client(), server());
  auto fault = make_corrupt("c1>n1/20%")->inject(*stage, {}, rng);
  std::vector<Wire::Arrival> arrived;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    wire.send(i);
    if (const auto arrival = wire.receive(milliseconds(i % 16 == 15 ? 1 : 0))) arrived.push_back(*arrival);
  }
  while (const auto arrival = wire.receive(milliseconds(300))) arrived.push_back(*arrival);
  const std::uint64_t changed = fault->effect().evidence.at("packets_corrupted");
  EXPECT_NEAR(static_cast<double>(changed), 200, 30);
  EXPECT_TRUE(std::ranges::all_of(arrived, &Wire::Arrival::whole));
  EXPECT_LE(arrived.size(), 1000 - changed);
  expect_healed(wire, *fault);
  fault = make_corrupt("c1>n1/20%,unseen")->inject(*stage, {}, rng);
  const std::vector<Wire::Arrival> all = stream(wire, 1000);
  EXPECT_EQ(all.size(), 1000U) << "the checksum was made right: everything is taken";
  const std::uint64_t unseen = fault->effect().evidence.at("packets_corrupted");
  EXPECT_NEAR(static_cast<double>(unseen), 200, 30);
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) wrong += all[i].whole && all[i].number == i ? 0 : 1;
  EXPECT_EQ(wrong, unseen);
  expect_healed(wire, *fault);
}

TEST_F(NetworkFaultsTest, ANarrowLinkPassesThatMuchAndNoMore) {
  Wire wire(client(), server());
  const auto fault = make_rate("c1>n1/8mbit")->inject(*stage, {}, rng);
  const auto start = Clock::now();
  for (std::uint32_t i = 0; i < 500; ++i) wire.send(i, 958);  // 1000 bytes on the wire
  for (std::uint32_t i = 0; i < 500; ++i) ASSERT_TRUE(wire.receive(seconds(5)));
  const double taken = std::chrono::duration<double>(Clock::now() - start).count();
  EXPECT_GE(taken, 0.499);
  EXPECT_LE(taken, 0.55);
  EXPECT_TRUE(fault->effect().seen);
  expect_healed(wire, *fault);
}

// A TCP connection from the client to the server, both ends in this process.
struct Connection {
  Connection(Node& from, Node& to, const std::string& address, std::uint16_t port)
      : near(from, SocketAddress(address, port).storage.ss_family, SOCK_STREAM) {
    const SocketAddress there(address, port);
    NodeSocket listener(to, there.storage.ss_family, SOCK_STREAM);
    if (::bind(listener.descriptor(), there.get(), there.size) != 0 || ::listen(listener.descriptor(), 1) != 0 ||
        ::connect(near.descriptor(), there.get(), there.size) != 0) {
      throw system_error("connect two nodes");
    }
    far = std::make_unique<NodeSocket>(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  // What the other end reads after one byte was sent to it: 1, or -errno.
  static int say(const NodeSocket& from, const NodeSocket& to) {
    const char byte = 'x';
    if (::send(from.descriptor(), &byte, 1, MSG_NOSIGNAL) != 1) return -errno;
    if (!to.readable_within(seconds(5))) return 0;
    char got = 0;
    const ssize_t count = ::recv(to.descriptor(), &got, 1, 0);
    return count < 0 ? -errno : static_cast<int>(count);
  }
  NodeSocket near;
  std::unique_ptr<NodeSocket> far;
};

TEST_F(NetworkFaultsTest, ResetEndsTheConnectionsThatThereAreAtBothEnds) {
  for (const std::string& to : {server().address(), address6(server())}) {
    Connection before(client(), server(), to, 9001);
    ASSERT_EQ(Connection::say(before.near, *before.far), 1);
    const auto fault = make_reset("c1-n1")->inject(*stage, {}, rng);
    EXPECT_FALSE(fault->effect().seen) << "nobody has spoken yet";
    EXPECT_EQ(Connection::say(before.near, *before.far), -ECONNRESET);
    ASSERT_TRUE(before.near.readable_within(seconds(5)));
    char byte = 0;
    EXPECT_EQ(::recv(before.near.descriptor(), &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET);
    EXPECT_EQ(fault->effect().evidence.at("connections_reset"), 1);
    Connection after(client(), server(), to, 9002);
    EXPECT_EQ(Connection::say(after.near, *after.far), 1) << "new connections work";
    EXPECT_EQ(Connection::say(*after.far, after.near), 1);
    EXPECT_TRUE(fault->heal().seen);
    EXPECT_EQ(Connection::say(after.near, *after.far), 1);
  }
}

TEST_F(NetworkFaultsTest, FlappingHoldsItsPace) {
  Wire wire(client(), server());
  const auto fault = make_flapping("c1-n1/100ms")->inject(*stage, {}, rng);
  const auto start = Clock::now();
  std::uint32_t sent = 0;
  std::size_t arrived = 0;
  while (Clock::now() - start < seconds(2)) {
    wire.send(sent++);
    if (wire.receive(milliseconds(1))) ++arrived;
  }
  const Effect effect = fault->effect();
  EXPECT_TRUE(effect.seen);
  EXPECT_NEAR(effect.evidence.at("turns").get<double>(), 40, 4);
  EXPECT_GT(arrived, 100U);
  EXPECT_GT(effect.evidence.at("packets_dropped").get<std::size_t>(), 100U);
  expect_healed(wire, *fault);
}

TEST_F(NetworkFaultsTest, FaultsLieOnTopOfEachOtherAndEndAlone) {
  Wire wire(client(), server());
  const auto delay = make_delay("c1>n1/30ms")->inject(*stage, {}, rng);
  auto cut = make_partition("c1>n1")->inject(*stage, {}, rng);
  wire.send(1);
  EXPECT_FALSE(wire.receive(milliseconds(80)));
  EXPECT_TRUE(cut->effect().seen);
  cut.reset();
  EXPECT_GE(one_way(wire), milliseconds(30));
  expect_healed(wire, *delay);
}

TEST_F(NetworkFaultsTest, CutsHoldForIPv6Too) {
  Wire wire(client(), server(), address6(server()));
  ASSERT_EQ(stream(wire, 100).size(), 100U);
  const auto fault = make_partition("c1>n1")->inject(*stage, {}, rng);
  EXPECT_EQ(stream(wire, 100).size(), 0U);
  EXPECT_EQ(fault->effect().evidence.at("packets_dropped"), 100);
  expect_healed(wire, *fault);
}

// What this machine's network looks like to somebody outside: the process that started us.
std::string network_of_the_machine() {
  std::string all;
  for (const char* file : {"dev", "route", "if_inet6", "ipv6_route", "arp"}) {
    std::ifstream in("/proc/" + std::to_string(::getppid()) + "/net/" + file);
    for (std::string line; std::getline(in, line);) all += line.substr(0, line.find(':')) + "\n";
  }
  FILE* const rules = ::popen(
      ("nsenter --net=/proc/" + std::to_string(::getppid()) + "/ns/net nft list ruleset 2>/dev/null").c_str(), "re");
  std::array<char, 4096> chunk{};
  while (rules != nullptr && std::fgets(chunk.data(), chunk.size(), rules) != nullptr) all += chunk.data();
  if (rules != nullptr) ::pclose(rules);
  return all;
}

TEST_F(NetworkFaultsTest, TheMachinesOwnNetworkIsLeftAlone) {
  const std::string before = network_of_the_machine();
  for (const auto& fault : {make_partition("halves"), make_delay("server"), make_loss("deaf"), make_flapping("mute")}) {
    const auto active = fault->inject(*stage, {}, rng);
    EXPECT_EQ(network_of_the_machine(), before);
  }
  stage.reset();
  EXPECT_EQ(network_of_the_machine(), before);
}

class GrudgeTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    cluster = std::make_unique<LocalCluster>(LocalClusterOptions{5, 4, HOLDFAST_PROGRAM_FOLDER});
  }
  std::unique_ptr<LocalCluster> cluster;
};

// Ten nodes, every link of them: in place within the time that a person would call at once, and never half of it.
TEST_F(GrudgeTest, AWholeGrudgeIsQuickAndAtomic) {
  const std::vector<Node*> nodes = cluster->all();
  ASSERT_EQ(nodes.size(), 10U);
  std::vector<ShapedLink> grudge;
  for (const Node* from : nodes) {
    for (const Node* to : nodes) {
      if (from != to) grudge.push_back({{from->name(), to->name()}, {.cut = true}});
    }
  }
  Wire first(*nodes[0], *nodes[1]);
  Wire second(*nodes[0], *nodes[9]);
  std::vector<microseconds> taken;
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> stop = false;
    std::thread sender([&] {
      for (std::uint32_t i = 1; !stop; ++i) {
        first.send(i);
        second.send(i);
        std::this_thread::sleep_for(microseconds(50));  // or a buffer would overflow, and that is no cut
      }
    });
    std::uint32_t seen = 0;
    while (seen < 50) seen = std::max(seen, first.receive(milliseconds(1000)).value_or(Wire::Arrival{}).number);
    const auto start = Clock::now();
    const Network::Layer layer = cluster->network().impose(grudge);
    taken.push_back(std::chrono::round<microseconds>(Clock::now() - start));
    stop = true;
    sender.join();
    std::uint32_t last_of_first = seen;
    std::uint32_t last_of_second = 0;
    while (const auto arrival = first.receive(milliseconds(5))) last_of_first = arrival->number;
    while (const auto arrival = second.receive(milliseconds(5))) last_of_second = arrival->number;
    // The second of a pair follows the first: the cut falls between two frames, so one may be ahead by one.
    EXPECT_TRUE(last_of_first == last_of_second || last_of_first == last_of_second + 1)
        << last_of_first << " and " << last_of_second;
    cluster->network().lift(layer);
  }
  EXPECT_LE(*std::ranges::max_element(taken), milliseconds(50));
}

}  // namespace
}  // namespace holdfast
