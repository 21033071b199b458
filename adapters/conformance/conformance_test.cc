// The conformance check is silent on every client of ours, and names what is wrong with each broken one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "adapters/testing/servers.h"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Not;

Finished conformance(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("holdfast-conformance"));
  return run_program(arguments);
}

class GoodClient : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(GoodClient, KeepsEveryRule) {
  const RedisServer redis;
  const ResourceServer resource;
  std::vector<std::string> arguments = {"--servers", redis.address()};
  if (GetParam().front() != "--no-locks") arguments.insert(arguments.end(), {"--resource", resource.address()});
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  const auto finished = conformance(arguments);
  EXPECT_EQ(describe_exit(finished.status), "exit 0") << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("ok      open is answered"));
  EXPECT_THAT(finished.output, Not(HasSubstr("FAILED")));
}

std::vector<std::string> variant(const char* name) {
  return {"--", program("holdfast-redis-client"), name};
}

INSTANTIATE_TEST_SUITE_P(
    Clients, GoodClient,
    testing::Values(variant("setnx"), variant("setpx-del"), variant("setpx-lua"), variant("setpx-lua-watchdog"),
                    variant("setpx-lua-fenced"),
                    std::vector<std::string>{"--step", "acquire:setnx-done", "--", program("holdfast-redis-client"),
                                             "setnx-expire"},
                    std::vector<std::string>{"--step", "release:get-done", "--", program("holdfast-redis-client"),
                                             "setpx-getdel"},
                    std::vector<std::string>{"--no-locks", "--", program("holdfast-redis-client"), "register"},
                    std::vector<std::string>{"--", "python3", HOLDFAST_SOURCE_FOLDER "/adapters/python/redis_lock.py"}),
    [](const auto& test) {
      const std::string& last = test.param.back();
      std::string name = last.substr(last.rfind('/') + 1);
      for (char& character : name)
        if (character == '-' || character == '.') character = '_';
      return name;
    });

struct Breakage {
  const char* mode;
  const char* complaint;
};
void PrintTo(const Breakage& breakage, std::ostream* out) {
  *out << breakage.mode;
}  // a test's name must be stable

class BrokenClient : public testing::TestWithParam<Breakage> {};

TEST_P(BrokenClient, IsNamed) {
  const auto finished = conformance({"--servers", "127.0.0.1:1", "--no-locks", "--limit-ms", "1000", "--",
                                     program("holdfast-broken-client"), "--mode", GetParam().mode});
  EXPECT_EQ(describe_exit(finished.status), "exit 1") << finished.output;
  EXPECT_THAT(finished.output, HasSubstr("FAILED  "));
  EXPECT_THAT(finished.output, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(Modes, BrokenClient,
                         testing::Values(Breakage{"die", "standard output ended (signal 9)"},
                                         Breakage{"hang", "no answer within 1000 ms"},
                                         Breakage{"flood", "no answer within 1000 ms"},
                                         Breakage{"garbage", "a line that is not a JSON object"},
                                         Breakage{"long-line", "a line longer than 1048576 bytes"},
                                         Breakage{"bad-open", "expected open to be answered ok"},
                                         Breakage{"bad-version", "expected value.protocol 1"},
                                         Breakage{"exit-at-open", "standard output ended (exit 1)"},
                                         Breakage{"wrong-id", "expected id 1"},
                                         Breakage{"half-line", "in the middle of a line"}),
                         [](const auto& test) {
                           std::string name = test.param.mode;
                           for (char& character : name)
                             if (character == '-') character = '_';
                           return name;
                         });

TEST(Conformance, ClientThatGrantsEverythingHasNoLock) {
  const auto finished = conformance({"--servers", "127.0.0.1:1", "--", program("holdfast-noop-client")});
  EXPECT_EQ(describe_exit(finished.status), "exit 1");
  EXPECT_THAT(finished.output, HasSubstr("FAILED  a held lock is refused"));
  EXPECT_THAT(finished.output, HasSubstr("FAILED  a second release fails"));
  EXPECT_THAT(finished.output, HasSubstr("ok      an answer carries the id"));
}

TEST(Conformance, StepThatIsNotMadeIsNamed) {
  const RedisServer redis;
  const auto finished = conformance({"--servers", redis.address(), "--step", "acquire:no-such-step", "--",
                                     program("holdfast-redis-client"), "setnx-expire"});
  EXPECT_THAT(finished.output, HasSubstr("expected a step before the answer"));
}

TEST(Conformance, WithoutServersTheFormIsChecked) {
  const auto finished = conformance({"--", program("holdfast-redis-client"), "setpx-lua"});
  EXPECT_EQ(describe_exit(finished.status), "exit 0") << finished.output;
}

TEST(Conformance, BadArgumentsAreOneLine) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--servers"},
                                                    {"--frobnicate", "1", "--", "true"},
                                                    {"--limit-ms", "-4", "--", "true"},
                                                    {}}) {
    const auto finished = conformance(arguments);
    EXPECT_EQ(describe_exit(finished.status), "exit 254") << finished.output;
    EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), 1) << finished.output;
  }
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Documentation, ShowsTheExampleAsItIs) {
  const std::string example = contents(HOLDFAST_SOURCE_FOLDER "/adapters/python/redis_lock.py");
  ASSERT_FALSE(example.empty());
  EXPECT_THAT(contents(HOLDFAST_SOURCE_FOLDER "/docs/adapters.md"), HasSubstr("```python\n" + example + "```"));
}

TEST(Programs, NeedNothingThatAHostMayLack) {
  for (const char* name : {"holdfast-redis-client", "holdfast-noop-client", "holdfast-resource"}) {
    const auto finished = run_program({"ldd", program(name)});
    EXPECT_THAT(finished.output, HasSubstr("libc.so"));
    EXPECT_THAT(finished.output, Not(HasSubstr("hiredis")));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_THAT(finished.output, Not(HasSubstr("libstdc++")));
#endif
  }
}

}  // namespace
}  // namespace holdfast
