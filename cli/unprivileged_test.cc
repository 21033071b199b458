// A user with no privileges at all: the run works inside a user namespace, or doctor names what the kernel forbids.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/holdfast_process.h"

namespace holdfast {
namespace {

using testing::HasSubstr;

class UnprivilegedTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() == 0 && ::chown(folder_.path().c_str(), kNobody, kNobody) != 0) {
      GTEST_SKIP() << "cannot give a folder to another user here";
    }
  }
  Ran run_as_nobody(std::vector<std::string> arguments) const {
    std::vector<std::string> argv;
    if (::geteuid() == 0)
      argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"};
    argv.push_back(holdfast_program());
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_program(argv, folder_.path());
  }
  static constexpr uid_t kNobody = 65534;
  ScratchFolder folder_;
};

TEST_F(UnprivilegedTest, RunsOrDoctorSaysWhatIsInTheWay) {
  const Ran doctor = run_as_nobody({"doctor"});
  if (doctor.exit_code == 126 || doctor.exit_code == 127) {
    GTEST_SKIP() << "another user may not read the folder that the programs are in";
  }
  EXPECT_THAT(doctor.output, HasSubstr("an unprivileged user"));
  const Ran ran = run_as_nobody({"run", "L05", "--seed", "1"});
  if (doctor.exit_code == 0) {
    EXPECT_EQ(ran.exit_code, 1) << ran.output << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("The verdict is the expected one."));
  } else {
    EXPECT_EQ(ran.exit_code, 255) << ran.output;
    EXPECT_THAT(doctor.output, HasSubstr("as root"));
  }
}

}  // namespace
}  // namespace holdfast
