#include "clusters/ssh/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/error.h"

namespace holdfast {
namespace {

bool is_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || std::isdigit(static_cast<unsigned char>(text[0])) != 0)
    return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), [](char character) {
    return character == '_' || std::isalnum(static_cast<unsigned char>(character)) != 0;
  });
}

}  // namespace

std::string quote(std::string_view argument) {
  std::string quoted = "'";
  for (const char character : argument) {
    if (character == '\0') {
      throw Error(fmt::format("cannot pass \"{}…\" to a shell: it has a NUL byte; remove it",
                              argument.substr(0, argument.find('\0'))));
    }
    if (character == '\'') {
      quoted += R"('\'')";
    } else {
      quoted += character;
    }
  }
  quoted += '\'';
  return quoted;
}

std::string shell_command(const Command& command) {
  if (command.argv.empty()) throw Error("cannot run a command without a program: argv is empty");
  // env(1) would take such a program for one more variable.
  if (command.argv[0].find('=') != std::string::npos)
    throw Error(fmt::format("cannot run \"{}\": a program's name must not have a '='", command.argv[0]));
  // An ordinary user's PATH lacks the folders where servers and nft are.
  std::string line = R"(env -i PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" HOME="$HOME" LANG="${LANG:-C.UTF-8}")";
  for (const std::string& variable : command.environment) {
    if (!is_assignment(variable))
      throw Error(fmt::format("\"{}\" is no environment variable: write NAME=value", variable));
    line += ' ' + quote(variable);
  }
  for (const std::string& argument : command.argv) line += ' ' + quote(argument);
  return line;
}

}  // namespace holdfast
