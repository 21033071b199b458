// A user with no privileges at all: the run works inside a user namespace, or doctor names what the kernel forbids.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/holdfast_process.h"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class UnprivilegedTest : public testing::Test {
 protected:
  // The programs are copied: the folder that they were built in may be closed to everybody else.
  void SetUp() override {
    fs::create_directory(programs_);
    for (const auto& entry : fs::directory_iterator(fs::path(holdfast_program()).parent_path())) {
      if (entry.path().filename().string().starts_with("holdfast")) fs::copy(entry, programs_);
    }
    if (::geteuid() == 0 && ::chown(folder_.path().c_str(), kNobody, kNobody) != 0) {
      GTEST_SKIP() << "cannot give a folder to another user here";
    }
  }
  Ran run_as_nobody(std::vector<std::string> arguments) const {
    std::vector<std::string> argv;
    if (::geteuid() == 0)
      argv = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"};
    argv.push_back(programs_ / "holdfast");
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_program(argv, folder_.path());
  }
  static constexpr uid_t kNobody = 65534;
  ScratchFolder folder_;
  fs::path programs_ = fs::path(folder_.path()) / "programs";
};

TEST_F(UnprivilegedTest, RunsOrDoctorSaysWhatIsInTheWay) {
  const Ran doctor = run_as_nobody({"doctor"});
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
