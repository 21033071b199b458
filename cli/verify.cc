#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "checkers/object_model.h"
#include "checkers/verify/certificate.h"
#include "checkers/verify/verify.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "harness/error.h"
#include "harness/formats/readers.h"

namespace holdfast {

namespace {

namespace fs = std::filesystem;

struct Verify {
  std::string subject = "latest";
  std::string certificate;
  std::string partition;
  std::string store = "store";
};

std::vector<verify::Certificate> read_certificates(const fs::path& file) {
  std::vector<verify::Certificate> certificates;
  std::istringstream lines(read_file(file));
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    try {
      certificates.push_back(verify::read_certificate(line));
    } catch (const std::invalid_argument& error) {
      throw UsageError(
          fmt::format("{} line {}: {}; let holdfast check write it anew", file.string(), number, error.what()));
    }
  }
  if (certificates.empty()) {
    throw UsageError(fmt::format("{} has no certificate; let holdfast check write it anew", file.string()));
  }
  return certificates;
}

const ModelEntry& model_of(const objects::Promise& promise) {
  const auto models = model_table();
  const auto found = std::ranges::find(models, promise.kind, &ModelEntry::kind);
  if (found == models.end()) throw UsageError("the certificate is about an object that no model describes");
  return *found;
}

// The same operations as were decided: the promise in the certificate says how the history was read.
std::vector<RecordedObject> objects_of(const formats::RecordedHistory& history, const objects::Promise& promise) {
  ModelOptions options;
  if (promise.initial != objects::kNothing) options.initial = promise.initial;
  options.identity = promise.identity;
  options.reentrancy = promise.reentrancy;
  options.permits = promise.permits;
  options.fence = promise.fence;
  return recorded_objects(history, model_of(promise), options);
}

int verify_all(const Verify& command) {
  fs::path history_file = command.subject;
  fs::path certificate_file = command.certificate;
  if (certificate_file.empty()) {
    const fs::path folder = resolve_run(command.store, command.subject);
    history_file = folder / "history.jsonl";
    certificate_file = folder / kCertificates;
    if (!fs::exists(certificate_file)) {
      throw UsageError(
          fmt::format("{} has no {}; run holdfast check {} first", folder.string(), kCertificates, command.subject));
    }
  }
  const std::vector<verify::Certificate> certificates = read_certificates(certificate_file);
  formats::ReadOptions reading;
  reading.tuple_keys = command.partition == "key";
  const formats::RecordedHistory history = formats::read_recorded(history_file, reading);
  int code = 0;
  const objects::Promise& read_as = certificates.front().promise;
  const std::vector<RecordedObject> objects = objects_of(history, read_as);
  std::set<std::string> spoken_of;
  for (const verify::Certificate& certificate : certificates) {
    spoken_of.insert(certificate.key);
    if (certificate.promise.kind != read_as.kind || certificate.promise.identity != read_as.identity) {
      throw UsageError(
          fmt::format("{} reads one history in two ways; let holdfast check write it anew", certificate_file.string()));
    }
    const auto object = std::ranges::find(objects, certificate.key, &RecordedObject::key);
    const std::string name = certificate.key.empty() ? "the object" : certificate.key;
    if (object == objects.end()) {
      fmt::print("✗ {}: the history has no such object\n", name);
      code = 1;
      continue;
    }
    objects::Promise promise = certificate.promise;
    promise.sets = object->promise.sets;
    promise.texts = object->promise.texts;
    const auto fault = verify::refute(promise, object->operations, certificate.decision);
    if (fault) {
      fmt::print("✗ {}: the certificate does not hold: {}\n", name, *fault);
      code = 1;
    } else if (certificate.decision.answer == objects::Answer::linearizable) {
      fmt::print("✓ {}: valid as {}, by an order of {} operations that was replayed\n", name, to_string(promise.kind),
                 certificate.decision.witness.size());
    } else if (certificate.decision.answer == objects::Answer::violation) {
      fmt::print("✓ {}: invalid as {}, by {} operations that cannot all be true ({})\n", name, to_string(promise.kind),
                 certificate.decision.core.size(), certificate.decision.rule);
    } else {
      fmt::print("○ {}: undecided, nothing is claimed\n", name);
      if (code == 0) code = 2;
    }
  }
  for (const RecordedObject& object : objects) {
    if (spoken_of.contains(object.key)) continue;
    fmt::print("✗ {}: no certificate speaks of it\n", object.key.empty() ? "the object" : object.key);
    code = 1;
  }
  return code;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<Verify>();
  CLI::App* const sub = app.add_subcommand(
      "verify", "Re-check the proof of a verdict, in linear time, with code that shares nothing with the checkers");
  sub->add_option("subject", command->subject, "A run (latest, its folder, its name), or a history with --certificate")
      ->capture_default_str();
  sub->add_option("--certificate", command->certificate, "What holdfast check --certificate wrote");
  sub->add_option("--partition", command->partition, "As given to holdfast check")->check(CLI::IsMember({"key"}));
  sub->add_option("--store", command->store, "Folder of runs")->capture_default_str();
  sub->footer(
      "\nExit code 0: every proof holds (of valid and invalid alike); 1: one does not; 2: nothing was claimed.");
  sub->callback([command, &exit_code] { exit_code = verify_all(*command); });
}

}  // namespace holdfast
