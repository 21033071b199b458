#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <new>

#include "cli/commands.h"
#include "cli/version.h"
#include "harness/error.h"
#include "harness/nearest.h"

namespace {

constexpr int kBadArguments = 254;
constexpr int kCrashed = 255;

constexpr const char* kFooter =
    "\nFirst steps:\n"
    "  holdfast audit redis-setpx-lua        every fault against one lock; ends in a report card\n"
    "  holdfast run L05                      one scenario of the catalogue, with the verdict it must reach\n"
    "  holdfast list                         systems, workloads, faults, scenarios\n"
    "  holdfast report latest                where the last run's page is, and its card once more\n"
    "\nExit codes: 0 every promise held, 1 a promise was broken, 2 unknown, 254 bad arguments, 255 crashed.";

int one_line(const std::string& message, int code) {
  fmt::print(stderr, "holdfast: {}\n", message);
  return code;
}

// The library would only say that a subcommand is missing, not that this one is not there.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string given = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == given) return;
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw holdfast::UsageError(
      fmt::format("unknown command \"{}\"; {}; see holdfast --help", given, holdfast::did_you_mean(given, known)));
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a client that dies shows as a failed write
  CLI::App app(
      "Holdfast deploys a real lock service on several nodes, breaks the network, the processes and the clients\n"
      "while they use it, and proves from what every client saw which promises held.");
  app.name("holdfast");
  app.set_version_flag("--version", holdfast::kVersion);
  app.require_subcommand(1);
  app.footer(kFooter);
  int exit_code = kCrashed;
  holdfast::add_run(app, exit_code);
  holdfast::add_audit(app, exit_code);
  holdfast::add_check(app, exit_code);
  holdfast::add_verify(app, exit_code);
  holdfast::add_report(app, exit_code);
  holdfast::add_list(app, exit_code);
  holdfast::add_doctor(app, exit_code);
  holdfast::add_clean(app, exit_code);
  holdfast::add_lab(app, exit_code);
  try {
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return one_line(fmt::format("{}; see holdfast {}--help", error.what(),
                                app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " "),
                    kBadArguments);
  } catch (const holdfast::UsageError& error) {
    return one_line(error.what(), kBadArguments);
  } catch (const std::bad_alloc&) {
    return one_line("out of memory", kCrashed);
  } catch (const std::exception& error) {
    return one_line(error.what(), kCrashed);
  }
}
