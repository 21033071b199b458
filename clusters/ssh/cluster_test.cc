#include "clusters/ssh/cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "clusters/ssh/test_sshd.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(std::span<Node* const> nodes) {
  std::vector<std::string> list;
  for (const Node* node : nodes) list.push_back(node->name());
  return list;
}

class SshClusters : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = TestSshd::missing(); !reason.empty()) GTEST_SKIP() << reason;
    sshd_ = std::make_unique<TestSshd>(folder_);
    sshd_->wait_until_it_listens();
    std::string config;
    for (const char* name : {"a", "b", "c", "d", "e"}) config += sshd_->config_entry(name);
    config += "Host closed\n  HostName 127.0.0.1\n  Port " + std::to_string(free_port()) + "\n";
    config += sshd_->config_entry("stranger", "other_key");
    write_file(folder_.file("config"), config);
    options_.ssh_config = folder_.file("config");
  }
  TestFolder folder_;
  std::unique_ptr<TestSshd> sshd_;
  SshOptions options_;
};

TEST_F(SshClusters, GivesRolesInOrder) {
  options_.nodes = {"a", "b", "c", "d", "e"};
  options_.server_nodes = 2;
  const SshCluster cluster(options_);
  EXPECT_THAT(names(cluster.servers()), ElementsAre("a", "b"));
  EXPECT_EQ(cluster.resource().name(), "c");
  EXPECT_THAT(names(cluster.clients()), ElementsAre("d", "e"));
  EXPECT_THAT(cluster.describe(), HasSubstr("2 servers, 1 resource, 2 client nodes"));
  EXPECT_EQ(cluster.all().size(), 5U);
}

TEST_F(SshClusters, SharesNodesWhenThereAreFew) {
  options_.nodes = {"a", "b"};
  {
    const SshCluster cluster(options_);
    EXPECT_THAT(names(cluster.servers()), ElementsAre("a"));
    EXPECT_EQ(cluster.resource().name(), "b");
    EXPECT_THAT(names(cluster.clients()), ElementsAre("b"));
  }
  options_.server_nodes = 2;
  {
    const SshCluster cluster(options_);
    EXPECT_THAT(names(cluster.servers()), ElementsAre("a", "b"));
    EXPECT_EQ(cluster.resource().name(), "b");
    EXPECT_THAT(names(cluster.clients()), ElementsAre("a", "b"));
  }
  options_.nodes = {"a"};
  options_.server_nodes = 1;
  const SshCluster alone(options_);
  EXPECT_THAT(names(alone.clients()), ElementsAre("a"));
  EXPECT_EQ(alone.resource().name(), "a");
}

TEST_F(SshClusters, TellsAllThatIsWrongAtOnce) {
  options_.nodes = {"a", "closed", "stranger"};
  try {
    const SshCluster cluster(options_);
    FAIL() << "it came up";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_THAT(text,
                testing::ContainsRegex("^closed: connect to 127.0.0.1 port [0-9]+: Connection refused[^\n]*\nstranger: "
                                       "login as root refused[^\n]*$"));
  }
}

TEST_F(SshClusters, RefusesOptionsThatMakeNoSense) {
  const auto refused = [this](const std::vector<std::string>& nodes, std::size_t servers) -> std::string {
    options_.nodes = nodes;
    options_.server_nodes = servers;
    try {
      const SshCluster cluster(options_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "(no error)";
  };
  EXPECT_THAT(refused({}, 1), HasSubstr("--nodes"));
  EXPECT_THAT(refused({"a", "a"}, 1), HasSubstr("a is given twice"));
  EXPECT_THAT(refused({"a", "b"}, 3), HasSubstr("needs 3 servers and 2 hosts"));
  options_.ssh_config = folder_.file("absent");
  EXPECT_THAT(refused({"a", "b"}, 1), testing::AllOf(HasSubstr("--ssh-config"), testing::Not(HasSubstr("\n"))));
}

// Hosts in network namespaces of their own: a bridge of ours and one sshd behind each of its ports.
class Lan {
 public:
  explicit Lan(int hosts) {
    must({"ip", "link", "set", "lo", "up"});
    must({"ip", "link", "add", "br0", "type", "bridge"});
    must({"ip", "addr", "add", "10.97.0.254/24", "dev", "br0"});
    must({"ip", "link", "set", "br0", "up"});
    std::string config;
    for (int number = 1; number <= hosts; ++number) {
      const std::string address = fmt::format("10.97.0.{}", number);
      const std::string gate = folder_.file(fmt::format("gate{}", number));
      // sshd starts when its address is there.
      sshds_.push_back(std::make_unique<TestSshd>(
          folder_, address, 22,
          std::vector<std::string>{"unshare", "-n", "/bin/sh", "-c",
                                   R"(until [ -e "$0" ]; do sleep 0.01; done; exec "$@")", gate}));
      const std::string pid = std::to_string(sshds_.back()->pid());
      const std::string ours = fmt::format("v{}", number);
      own_namespace(sshds_.back()->pid());
      must({"ip", "link", "add", ours, "type", "veth", "peer", "name", "eth0", "netns", pid});
      must({"ip", "link", "set", ours, "master", "br0", "up"});
      for (const std::vector<std::string>& command :
           std::vector<std::vector<std::string>>{{"ip", "addr", "add", address + "/24", "dev", "eth0"},
                                                 {"ip", "link", "set", "eth0", "up"},
                                                 {"ip", "link", "set", "lo", "up"}}) {
        std::vector<std::string> inside = {"nsenter", "-n", "-t", pid};
        inside.insert(inside.end(), command.begin(), command.end());
        must(inside);
      }
      write_file(gate, "");
      config += sshds_.back()->config_entry(fmt::format("h{}", number));
    }
    for (const auto& sshd : sshds_) sshd->wait_until_it_listens();
    write_file(folder_.file("config"), config);
  }
  [[nodiscard]] SshOptions options() const {
    SshOptions options;
    options.ssh_config = folder_.file("config");
    for (std::size_t number = 1; number <= sshds_.size(); ++number) options.nodes.push_back(fmt::format("h{}", number));
    return options;
  }

 private:
  static void must(const std::vector<std::string>& argv) {
    if (run_program(argv) != 0) throw Error(fmt::format("{} {} … failed", argv[0], argv[1]));
  }
  static void own_namespace(pid_t pid) {
    const auto link = [](const std::string& process) {
      std::error_code ignored;
      return std::filesystem::read_symlink("/proc/" + process + "/ns/net", ignored).string();
    };
    if (!eventually(
            [&] { return !link(std::to_string(pid)).empty() && link(std::to_string(pid)) != link("thread-self"); }))
      throw Error("no network namespace");
  }

  TestFolder folder_;
  std::vector<std::unique_ptr<TestSshd>> sshds_;
};

bool reaches(Node& from, const Node& to) {
  const std::string script =
      fmt::format("exec 3<>/dev/tcp/{}/22 && read -r -u 3 banner && echo \"$banner\"", to.address());
  return from.run({.argv = {"timeout", "0.7", "/bin/bash", "-c", script}, .environment = {}}, seconds(20)).ok();
}

void cuts_and_heals() {
  const Lan lan(3);
  SshCluster cluster(lan.options());
  const std::vector<Node*> nodes = cluster.all();
  Node& one = *nodes.at(0);
  Node& two = *nodes.at(1);
  Node& three = *nodes.at(2);
  ASSERT_EQ(one.address(), "10.97.0.1");
  // A table of somebody else, and a rule that lets established connections pass: neither may matter nor change.
  const Command foreign{
      .argv = {"nft",
               "add table inet foreign; add chain inet foreign in { type filter hook input priority 0; "
               "}; add rule inet foreign in ct state established accept"},
      .environment = {}};
  ASSERT_TRUE(two.run(foreign, seconds(10)).ok());
  EXPECT_TRUE(reaches(one, two));
  EXPECT_EQ(cluster.network().dropped(), 0U);

  const std::vector<CutLink> one_way = {{.from = "h1", .to = "h2"}};
  cluster.network().cut(one_way);
  EXPECT_FALSE(reaches(one, two));
  EXPECT_TRUE(reaches(one, three));
  EXPECT_TRUE(reaches(three, two));
  EXPECT_GT(cluster.network().dropped(), 0U);

  const std::vector<CutLink> isolated = {
      {.from = "h3", .to = "h1"}, {.from = "h1", .to = "h3"}, {.from = "h3", .to = "h2"}, {.from = "h2", .to = "h3"}};
  cluster.network().cut(isolated);  // replaces the first
  EXPECT_TRUE(reaches(one, two));
  EXPECT_FALSE(reaches(one, three));
  EXPECT_FALSE(reaches(three, two));

  cluster.network().cut({});
  EXPECT_TRUE(reaches(one, three));
  EXPECT_TRUE(reaches(three, two));
  EXPECT_EQ(cluster.network().dropped(), 0U);
  EXPECT_EQ(two.run({.argv = {"nft", "list", "tables"}, .environment = {}}, seconds(10)).output,
            "table inet foreign\n");
  const std::vector<CutLink> unknown = {{.from = "h1", .to = "nobody"}};
  EXPECT_THROW(cluster.network().cut(unknown), Error);
}

void heals_itself() {
  const Lan lan(2);
  SshOptions options = lan.options();
  options.dead_man = milliseconds(1000);
  const pid_t controller = fork();
  ASSERT_GE(controller, 0);
  if (controller == 0) {
    SshCluster cluster(options);
    const std::vector<CutLink> links = {{.from = "h1", .to = "h2"}, {.from = "h2", .to = "h1"}};
    cluster.network().cut(links);
    while (true) pause();
  }
  const SshCluster judge(options);
  const std::vector<Node*> nodes = judge.all();
  const auto cut = [&](Node& node) {
    return node.run({.argv = {"nft", "list", "tables"}, .environment = {}}, seconds(10)).output ==
           "table inet holdfast\n";
  };
  EXPECT_TRUE(eventually([&] { return cut(*nodes[0]) && cut(*nodes[1]); }, seconds(20)));
  EXPECT_FALSE(reaches(*nodes[0], *nodes[1]));
  stop_program(controller);  // SIGTERM, which nobody there handles
  EXPECT_TRUE(eventually([&] { return !cut(*nodes[0]) && !cut(*nodes[1]); }, seconds(15)));
  EXPECT_TRUE(reaches(*nodes[0], *nodes[1]));
}

// A network namespace belongs to a thread, so the test gets one of its own and leaves the machine's network alone.
void in_own_network(void (*body)()) {
  if (const std::string reason = TestSshd::missing(); !reason.empty()) GTEST_SKIP() << reason;
  if (access("/usr/sbin/nft", X_OK) != 0) GTEST_SKIP() << "no nft here: install nftables";
  if (run_program({"unshare", "-n", "true"}) != 0) GTEST_SKIP() << "no network namespace can be made here";
  std::thread([body] {
    if (unshare(CLONE_NEWNET) != 0) throw system_error("unshare");
    try {
      body();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }).join();
}

TEST(SshNetworks, CutsLinksOneWayReplacesThemAndHeals) {
  in_own_network(cuts_and_heals);
}
TEST(SshNetworks, HealsWithoutTheController) {
  in_own_network(heals_itself);
}

}  // namespace
}  // namespace holdfast
