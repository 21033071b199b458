#include "clusters/ssh/quote.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "harness/error.h"

namespace holdfast {
namespace {

// What a real /bin/sh prints for the script.
std::string shell_output(const std::string& script) {
  FILE* pipe = popen(script.c_str(), "r");  // NOLINT(cert-env33-c): the shell is what is under test
  if (pipe == nullptr) return "popen failed";
  std::string output;
  std::array<char, 4096> buffer{};
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) output.append(buffer.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << script;
  return output;
}

std::string through_shell(const std::string& argument) {
  return shell_output("printf %s " + quote(argument));
}

class NastyArgument : public testing::TestWithParam<std::string> {};

TEST_P(NastyArgument, SurvivesARealShell) {
  EXPECT_EQ(through_shell(GetParam()), GetParam());
}

TEST_P(NastyArgument, SurvivesTwoShells) {
  const std::string inner = "printf %s " + quote(GetParam());
  EXPECT_EQ(shell_output("/bin/sh -c " + quote(inner)), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Quote, NastyArgument,
                         testing::Values("", " ", "plain", "two words", "'", "''", "it's", "\"", "\\", "\\'",
                                         "a'b\"c\\d", "$(touch /nowhere)", "`id`", "$HOME", "${HOME}", "*", "?",
                                         "[a-z]*", "~", "~root", "-n", "--", "-rf /", "a;b", "a&b", "a|b", "a>b", "a<b",
                                         "#no comment", "!!", "%s%n", "line\nbreak", "ends with a newline\n", "\n",
                                         "\t\r\v\f", "a\\\nb", "{a,b}", "=x", "grüße, 世界, \xF0\x9F\x94\x92",
                                         "\xFF\xFE not UTF-8", "&&", "()", "'\\''"));

TEST(Quote, EveryByteButNulSurvives) {
  std::string all;
  for (int byte = 1; byte <= 255; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(through_shell(all), all);
  for (int byte = 1; byte <= 255; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    ASSERT_EQ(through_shell(one), one) << "byte " << byte;
  }
}

TEST(Quote, NulIsAnError) {
  using namespace std::string_literals;
  EXPECT_THROW((void)quote("a\0b"s), Error);
  EXPECT_THROW((void)quote("\0"s), Error);
}

TEST(ShellCommand, KeepsArgumentsApart) {
  const Command command{.argv = {"printf", "[%s]", "a b", "", "$(id)", "*", "-x"}, .environment = {}};
  EXPECT_EQ(shell_output(shell_command(command)), "[a b][][$(id)][*][-x]");
}

TEST(ShellCommand, GivesTheEnvironmentAskedForAndNoOther) {
  const Command command{.argv = {"env"}, .environment = {"WEIRD=a 'b' $c\"", "EMPTY=", "_x1=1=2"}};
  const std::string output = shell_output("SECRET=1; export SECRET; " + shell_command(command));
  EXPECT_NE(output.find("WEIRD=a 'b' $c\"\n"), std::string::npos) << output;
  EXPECT_NE(output.find("EMPTY=\n"), std::string::npos) << output;
  EXPECT_NE(output.find("_x1=1=2\n"), std::string::npos) << output;
  EXPECT_NE(output.find("PATH="), std::string::npos) << output;
  EXPECT_EQ(output.find("SECRET"), std::string::npos) << output;
}

TEST(ShellCommand, RefusesWhatEnvWouldMisread) {
  EXPECT_THROW((void)shell_command({.argv = {}, .environment = {}}), Error);
  EXPECT_THROW((void)shell_command({.argv = {"a=b"}, .environment = {}}), Error);
  for (const char* wrong : {"NAME", "=x", "1A=x", "A B=x", "-u=x", ""})
    EXPECT_THROW((void)shell_command({.argv = {"true"}, .environment = {wrong}}), Error) << wrong;
}

}  // namespace
}  // namespace holdfast
