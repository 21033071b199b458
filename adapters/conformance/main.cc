// holdfast-conformance [options] -- COMMAND…: does this client speak the adapter protocol? For authors of adapters.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "adapters/conformance/rules.h"

namespace {

constexpr int kBadArguments = 254;
constexpr int kCrashed = 255;
constexpr const char* kUsage =
    "usage: holdfast-conformance [options] -- COMMAND [ARGUMENT...]\n"
    "Starts the client COMMAND several times and checks that it speaks protocol 1 (docs/adapters.md).\n"
    "  --servers IP:PORT,...   real servers: open must succeed, and the lock rules are checked\n"
    "  --resource IP:PORT      a running holdfast-resource: read and write are checked\n"
    "  --step F:NAME           a step that operation F can stop at, e.g. acquire:setnx-done; may be repeated\n"
    "  --no-locks              the client has no acquire and release\n"
    "  --limit-ms N            how long an answer may take (5000)\n"
    "Exit status: 0 all rules kept, 1 some were not, 254 bad arguments, 255 the check itself failed.\n";

class BadArgument : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

void apply(holdfast::Examination& examination, std::string_view option, const std::string& value) {
  if (option == "--servers") {
    examination.subject.servers = split(value);
  } else if (option == "--resource") {
    examination.subject.resource = value;
  } else if (option == "--step") {
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) throw BadArgument("--step " + value + ": write it as F:NAME");
    examination.steps.emplace_back(value.substr(0, colon), value.substr(colon + 1));
  } else if (option == "--limit-ms") {
    int limit = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
    if (error != std::errc() || stop != value.data() + value.size() || limit <= 0)
      throw BadArgument("--limit-ms " + value + ": must be a whole number above 0");
    examination.subject.limit = std::chrono::milliseconds(limit);
  } else {
    throw BadArgument("unknown option " + std::string(option) + "; see --help");
  }
}

holdfast::Examination parse(std::span<char* const> arguments) {
  holdfast::Examination examination;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (option == "--") {
      examination.subject.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (option == "--no-locks") {
      examination.locks = false;
    } else if (i + 1 < arguments.size()) {
      apply(examination, option, arguments[++i]);
    } else {
      throw BadArgument(std::string(option) + " needs a value; see --help");
    }
  }
  if (examination.subject.command.empty()) throw BadArgument("no COMMAND after --; see --help");
  return examination;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
      std::fputs(kUsage, stdout);
      return EXIT_SUCCESS;
    }
    const auto arguments = std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1);
    return holdfast::examine(parse(arguments)) ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const BadArgument& error) {
    std::fprintf(stderr, "holdfast-conformance: %s\n", error.what());
    return kBadArguments;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "holdfast-conformance: %s\n", error.what());
    return kCrashed;
  }
}
