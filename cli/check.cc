#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/object_check.h"
#include "cli/session.h"
#include "harness/error.h"
#include "results/card.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

struct Check {
  std::string subject = "latest";
  std::string workload = "lock";
  std::string store = "store";
  std::string model;  // empty: the properties of the workload
  std::string partition;
  std::string identity;
  std::string lease;
  std::string limit;
  std::string bytes;
  std::string fence = "increasing";
  std::string certificate;
  ModelOptions options;
};

// The history as objects of one kind: any tool's recording, any size.
int check_model(Check& command) {
  using objects::Identity;
  static const std::map<std::string, Identity> kIdentities = {
      {"crash", Identity::crash}, {"hold", Identity::hold}, {"session", Identity::session}, {"reuse", Identity::reuse}};
  ObjectCheck check;
  check.file = command.subject;
  check.model = command.model;
  if (!command.identity.empty()) command.options.identity = kIdentities.at(command.identity);
  if (!command.lease.empty()) command.options.lease = parse_duration("--lease", command.lease);
  if (command.fence == "by-one") command.options.fence = objects::FenceRule::by_one;
  check.options = command.options;
  check.reading.tuple_keys = command.partition == "key";
  if (!command.limit.empty()) check.limit = parse_duration("--limit", command.limit);
  if (!command.bytes.empty()) check.bytes = parse_bytes("--bytes", command.bytes);
  const ObjectResults checked = check_objects(check);
  RunInfo info;
  info.name = fs::path(command.subject).filename();
  info.system = "(a history from elsewhere)";
  info.workload = command.model;
  info.argv = {"check", command.subject, "--model", command.model};
  fmt::print("{}", run_card(info, checked.results, {}, card_style_for(STDOUT_FILENO)));
  if (checked.history.truncated) fmt::print("The last event of the file was cut short and is left out.\n");
  if (!command.certificate.empty()) {
    write_file(command.certificate, certificates_text(checked));
    fmt::print("Certificate in {}; holdfast verify {} --certificate {} re-checks it.\n", command.certificate,
               command.subject, command.certificate);
  }
  return exit_code_of(checked.results.validity);
}

// A history with no run around it: what another tool recorded, or what somebody mailed.
int check_file(const Check& command) {
  const RunResults results = check_history(command.subject, command.workload);
  RunInfo info;
  info.name = fs::path(command.subject).filename();
  info.system = "(a history from elsewhere)";
  info.workload = command.workload;
  info.argv = {"check", command.subject, "--workload", command.workload};
  fmt::print("{}", run_card(info, results, {}, card_style_for(STDOUT_FILENO)));
  return exit_code_of(results.validity);
}

int check(Check& command) {
  if (!command.model.empty()) return check_model(command);
  const fs::path subject = command.subject;
  if (fs::is_regular_file(subject) && !fs::exists(subject.parent_path() / "test.json")) return check_file(command);
  const RunOutcome outcome = check_run(resolve_run(command.store, command.subject));
  fmt::print("{}", run_card(outcome.info, outcome.results, outcome.folder, card_style_for(STDOUT_FILENO)));
  if (outcome.results.stats.truncated) {
    fmt::print("The last line of the history was cut short (the controller was killed) and is left out.\n");
  }
  if (const std::string sentence = expectation(outcome.results); !sentence.empty()) fmt::print("{}\n", sentence);
  return outcome.exit_code();
}

void add_model_options(CLI::App& sub, Check& command) {
  std::string models = "Judge the file as objects of one kind:";
  for (const ModelEntry& entry : model_table())
    models += fmt::format("{} {}", models.back() == ':' ? "" : ",", entry.name);
  CLI::Option* const model = sub.add_option("-m,--model", command.model, models);
  const auto add = [&](const char* flags, auto& value, const char* help) {
    return sub.add_option(flags, value, help)->needs(model);
  };
  add("--partition", command.partition, "key: values are [key value] pairs, each key an object of its own")
      ->check(CLI::IsMember({"key"}));
  add("--initial", command.options.initial, "What registers and counters hold at first");
  add("--identity", command.identity, "Who a late request can still hurt; without it the history tells")
      ->check(CLI::IsMember({"crash", "hold", "session", "reuse"}));
  add("--lease", command.lease, "The lease of every hold, where the history does not say it");
  add("--reentrancy", command.options.reentrancy, "How often a holder may acquire again")->capture_default_str();
  add("--permits", command.options.permits, "Of a semaphore")->capture_default_str();
  add("--fence", command.fence, "How tokens must grow")
      ->check(CLI::IsMember({"increasing", "by-one"}))
      ->capture_default_str();
  add("--limit", command.limit, "Answer unknown after this time");
  add("--bytes", command.bytes, "Answer unknown rather than use more memory than this (500M, 4G)");
  add("--certificate", command.certificate, "Write the proof of the verdict to this file, for holdfast verify");
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Check>();
  CLI::App* const sub = app.add_subcommand("check", "Judge a recorded history again: a run, or any file with --model");
  sub->add_option("subject", command->subject,
                  "A run (latest, its folder, its name) or a history: history.jsonl, Jepsen EDN or log; also gz")
      ->capture_default_str();
  sub->add_option("-w,--workload", command->workload, "For a file: what the clients were doing")->capture_default_str();
  add_model_options(*sub, *command);
  sub->add_option("--store", command->store, "Folder of runs")->capture_default_str();
  sub->callback([command, &exit_code] { exit_code = check(*command); });
}

}  // namespace holdfast
