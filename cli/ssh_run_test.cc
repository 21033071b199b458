// Whole runs over SSH, against a real sshd in each local node (`holdfast lab`), and the four ways in which a host
// refuses us, each told in one line and in time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "cli/holdfast_process.h"
#include "clusters/local/world.h"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SshRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string obstacle = private_world_obstacle();
    if (!obstacle.empty()) GTEST_SKIP() << "local nodes are not possible here: " << obstacle;
    if (::geteuid() != 0) GTEST_SKIP() << "sshd needs root to change users";
    if (::access("/usr/sbin/sshd", X_OK) != 0) GTEST_SKIP() << "sshd is missing: apt-get install openssh-server";
  }
  // Runs a shell script among `nodes` nodes with an sshd each; $1 is their ssh configuration, $2 our program.
  Ran in_lab(int nodes, const std::string& script) const {
    return run_holdfast(
        {"lab", "--nodes", std::to_string(nodes), "sh", "-c", script, "sh", "{config}", holdfast_program()},
        folder_.path());
  }
  ScratchFolder folder_;
};

TEST_F(SshRunTest, L05ReachesTheSameVerdict) {
  const Ran ran = in_lab(6, "\"$2\" run L05 --seed 1 --nodes n1,n2,n3,n4,n5,n6 --ssh-config \"$1\"");
  EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("The verdict is the expected one.")) << ran.errors;
}

TEST_F(SshRunTest, HoldsWithoutTheFault) {
  const Ran ran = in_lab(4, "\"$2\" run L05 --faults none --time 3s --nodes n1,n2,n3,n4 --ssh-config \"$1\"");
  EXPECT_EQ(ran.exit_code, 0) << ran.output << ran.errors;
}

TEST_F(SshRunTest, WrongHostKeyIsRefusedWithTheWayToAcceptIt) {
  const Ran ran = in_lab(1,
                         "sed 's/UserKnownHostsFile.*/UserKnownHostsFile \\/dev\\/null/' \"$1\" > strange.conf; "
                         "\"$2\" run L05 --nodes n1 --ssh-config strange.conf");
  EXPECT_EQ(ran.exit_code, 255) << ran.output;
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("n1"), HasSubstr("SHA256:"), HasSubstr("ssh-keyscan")));
}

TEST_F(SshRunTest, WrongUserKeyIsRefusedWithTheMethodsTried) {
  const Ran ran = in_lab(
      1,
      "ssh-keygen -q -t ed25519 -N '' -f other; sed \"s|IdentityFile.*|IdentityFile $PWD/other|\" \"$1\" > other.conf; "
      "env -u SSH_AUTH_SOCK \"$2\" run L05 --nodes n1 --ssh-config other.conf");
  EXPECT_EQ(ran.exit_code, 255) << ran.output;
  EXPECT_THAT(ran.errors, AllOf(HasSubstr("n1"), HasSubstr("key")));
}

TEST_F(SshRunTest, AClockThatCannotBeSetIsNamed) {
  const Ran ran = in_lab(3, "\"$2\" run L05 --faults clock --time 2s --nodes n1,n2,n3 --ssh-config \"$1\"");
  EXPECT_EQ(ran.exit_code, 255) << ran.output;
  EXPECT_THAT(ran.errors,
              AllOf(HasSubstr("n1: the clock cannot be set"), HasSubstr("not permitted"), HasSubstr("CAP_SYS_TIME")));
}

TEST_F(SshRunTest, RefusedPortAndHangingHostEndInTime) {
  const Ran refused =
      in_lab(1, "(cat \"$1\"; echo '  Port 2222') > port.conf; \"$2\" run L05 --nodes n1 --ssh-config port.conf");
  EXPECT_EQ(refused.exit_code, 255) << refused.output;
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("n1"), HasSubstr("refused")));
  const auto before = std::chrono::steady_clock::now();
  // An address on the nodes' network that nobody has: packets go nowhere.
  const Ran hangs = in_lab(1,
                           "sed 's/HostName .*/HostName 10.99.0.77/' \"$1\" > hang.conf; "
                           "\"$2\" run L05 --nodes n1 --ssh-config hang.conf --connect-timeout 2s");
  EXPECT_EQ(hangs.exit_code, 255) << hangs.output;
  EXPECT_THAT(hangs.errors, HasSubstr("n1"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
}

}  // namespace
}  // namespace holdfast
