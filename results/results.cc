#include "results/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/error.h"
#include "results/store.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

// The card's order of properties is part of what is said; plain nlohmann::json would sort them by name.
using Ordered = nlohmann::ordered_json;

Validity validity_from(const std::string& word) {
  for (const Validity validity : {Validity::valid, Validity::unknown, Validity::invalid}) {
    if (word == to_string(validity)) return validity;
  }
  throw Error(fmt::format(R"(results.json: "valid" is "{}"; it may be valid, unknown or invalid)", word));
}

Ordered count_to_json(const Stats::Count& count) {
  return {{"ok", count.ok}, {"fail", count.fail}, {"info", count.info}};
}

Stats::Count count_from(const Ordered& json) {
  return {.ok = json.at("ok").get<std::uint64_t>(),
          .fail = json.at("fail").get<std::uint64_t>(),
          .info = json.at("info").get<std::uint64_t>()};
}

Ordered stats_to_json(const Stats& stats) {
  Ordered by_function = Ordered::object();
  for (const auto& [f, count] : stats.by_function) by_function[f] = count_to_json(count);
  Ordered json = {{"events", stats.events},
                  {"duration_ns", stats.duration.count()},
                  {"operations", count_to_json(stats.operations)},
                  {"by_function", std::move(by_function)}};
  if (stats.truncated) json["truncated"] = true;
  return json;
}

Stats stats_from(const Ordered& json) {
  Stats stats;
  stats.events = json.at("events").get<std::uint64_t>();
  stats.duration = Time(json.at("duration_ns").get<std::int64_t>());
  stats.operations = count_from(json.at("operations"));
  for (const auto& [f, count] : json.at("by_function").items()) stats.by_function[f] = count_from(count);
  stats.truncated = json.value("truncated", false);
  return stats;
}

Ordered fault_to_json(const FaultRecord& fault) {
  Ordered json = {{"id", fault.id},
                  {"kind", fault.kind},
                  {"start_ns", fault.start.count()},
                  {"end_ns", fault.end == Time::max() ? Ordered() : Ordered(fault.end.count())},
                  {"start_event", fault.start_event},
                  {"end_event", fault.end_event ? Ordered(*fault.end_event) : Ordered()},
                  {"process", fault.process ? Ordered(number(*fault.process)) : Ordered()},
                  {"nodes", fault.nodes},
                  {"server", fault.server},
                  {"effective", fault.effective},
                  {"healed", fault.healed}};
  json["target"] = Ordered(fault.target);
  json["evidence"] = Ordered(fault.evidence);
  return json;
}

FaultRecord fault_from(const Ordered& json) {
  FaultRecord fault;
  fault.id = json.at("id").get<std::uint64_t>();
  fault.kind = json.at("kind").get<std::string>();
  fault.start = Time(json.at("start_ns").get<std::int64_t>());
  if (!json.at("end_ns").is_null()) fault.end = Time(json.at("end_ns").get<std::int64_t>());
  fault.start_event = json.at("start_event").get<std::uint64_t>();
  if (!json.at("end_event").is_null()) fault.end_event = json.at("end_event").get<std::uint64_t>();
  if (!json.at("process").is_null()) fault.process = Process{json.at("process").get<std::int64_t>()};
  fault.nodes = json.at("nodes").get<std::vector<std::string>>();
  fault.server = json.at("server").get<bool>();
  fault.effective = json.at("effective").get<bool>();
  fault.healed = json.at("healed").get<bool>();
  fault.target = Value(json.at("target"));
  fault.evidence = Value(json.at("evidence"));
  return fault;
}

Ordered finding_to_json(const Finding& finding) {
  Ordered json = {{"kind", finding.kind}, {"because", finding.because}, {"events", finding.events}};
  json["detail"] = Ordered(finding.detail);
  return json;
}

Ordered property_to_json(const PropertyResult& property) {
  const Verdict& verdict = property.verdict;
  Ordered findings = Ordered::array();
  for (const Finding& finding : verdict.findings) findings.push_back(finding_to_json(finding));
  Ordered json = {{"title", property.title},          {"valid", to_string(verdict.validity)},
                  {"applicable", verdict.applicable}, {"exposures", verdict.exposures},
                  {"exposure", verdict.exposure},     {"reason", verdict.reason}};
  json["findings"] = std::move(findings);
  json["detail"] = Ordered(verdict.detail);
  json["milliseconds"] = property.milliseconds;
  return json;
}

PropertyResult property_from(const std::string& name, const Ordered& json) {
  PropertyResult property{.name = name, .title = json.at("title").get<std::string>(), .verdict = {}, .milliseconds = 0};
  Verdict& verdict = property.verdict;
  verdict.validity = validity_from(json.at("valid").get<std::string>());
  verdict.applicable = json.at("applicable").get<bool>();
  verdict.exposures = json.at("exposures").get<std::uint64_t>();
  verdict.exposure = json.at("exposure").get<std::string>();
  verdict.reason = json.at("reason").get<std::string>();
  for (const Ordered& finding : json.at("findings")) {
    verdict.findings.push_back({.kind = finding.at("kind").get<std::string>(),
                                .because = finding.at("because").get<std::string>(),
                                .events = finding.at("events").get<std::vector<std::uint64_t>>(),
                                .detail = Value(finding.at("detail"))});
  }
  verdict.detail = Value(json.at("detail"));
  property.milliseconds = json.at("milliseconds").get<double>();
  return property;
}

}  // namespace

Stats stats_of(const History& history, bool truncated) {
  Stats stats;
  stats.events = history.events().size();
  stats.duration = history.end();
  stats.truncated = truncated;
  for (const Operation& operation : history.operations()) {
    Stats::Count& count = stats.by_function[operation.invoke->f];
    for (Stats::Count* each : {&count, &stats.operations}) {
      std::uint64_t& outcome = operation.ok() ? each->ok : operation.failed() ? each->fail : each->info;
      ++outcome;
    }
  }
  return stats;
}

RunResults make_results(Validity validity, std::vector<PropertyResult> properties, const HistoryFile& file) {
  RunResults results;
  results.validity = validity;
  results.properties = std::move(properties);
  results.faults = fault_records(file.history);
  results.stats = stats_of(file.history, file.truncated);
  return results;
}

std::string to_json_text(const RunResults& results) {
  Ordered properties = Ordered::object();
  for (const PropertyResult& property : results.properties) properties[property.name] = property_to_json(property);
  Ordered faults = Ordered::array();
  for (const FaultRecord& fault : results.faults) faults.push_back(fault_to_json(fault));
  Ordered json;
  json["valid"] = to_string(results.validity);
  json["properties"] = std::move(properties);
  json["faults"] = std::move(faults);
  json["stats"] = stats_to_json(results.stats);
  if (!results.expected.is_null()) json["expected"] = Ordered(results.expected);
  return json.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

RunResults results_from_json_text(std::string_view text) {
  try {
    const Ordered json = Ordered::parse(text);
    RunResults results;
    results.validity = validity_from(json.at("valid").get<std::string>());
    for (const auto& [name, property] : json.at("properties").items()) {
      results.properties.push_back(property_from(name, property));
    }
    for (const Ordered& fault : json.at("faults")) results.faults.push_back(fault_from(fault));
    results.stats = stats_from(json.at("stats"));
    if (json.contains("expected")) results.expected = Value(json.at("expected"));
    return results;
  } catch (const Ordered::exception& error) {
    throw Error(fmt::format("results.json: {}; `holdfast check` writes it anew", error.what()));
  }
}

RunResults read_results(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / "results.json", ignored)) {
    throw UsageError(
        fmt::format("{} has no results.json yet; `holdfast check {}` makes it", run.string(), run.string()));
  }
  return results_from_json_text(read_file(run / "results.json"));
}

bool is_promise(const PropertyResult& property) {
  return property.name != "stats";
}

Mark mark_of(const Verdict& verdict) {
  if (!verdict.applicable) return Mark::not_applicable;
  if (verdict.validity == Validity::invalid) return Mark::broken;
  if (verdict.exposures == 0) return Mark::not_tested;  // vacuous is not valid, whatever the checker says
  return verdict.validity == Validity::valid ? Mark::held : Mark::undecided;
}

std::string_view to_string(Mark mark) {
  switch (mark) {
    case Mark::held:
      return "held";
    case Mark::broken:
      return "BROKEN";
    case Mark::not_tested:
      return "not tested";
    case Mark::undecided:
      return "undecided";
    case Mark::not_applicable:
      return "n/a";
  }
  return "n/a";
}

std::string sentence_of(const RunResults& results) {
  std::map<Mark, std::size_t> counts;
  for (const PropertyResult& property : results.properties) {
    if (is_promise(property)) ++counts[mark_of(property.verdict)];
  }
  const std::size_t speaking =
      counts[Mark::held] + counts[Mark::broken] + counts[Mark::not_tested] + counts[Mark::undecided];
  if (speaking == 0) return "nothing in this history could be judged";
  const auto promises = [](std::size_t n) { return n == 1 ? "1 promise" : fmt::format("{} promises", n); };
  if (counts[Mark::held] == speaking)
    return speaking == 1 ? "the one promise held" : fmt::format("all {} promises held", speaking);
  std::string sentence;
  for (const Mark mark : {Mark::broken, Mark::held, Mark::not_tested, Mark::undecided}) {
    if (counts[mark] == 0) continue;
    const std::string word = mark == Mark::broken ? "broken" : std::string(to_string(mark));
    sentence += sentence.empty() ? fmt::format("{} {}", promises(counts[mark]), word)
                                 : fmt::format(", {} {}", counts[mark], word);
  }
  return sentence;
}

std::string describe(const FaultRecord& fault) {
  std::string where;
  for (const std::string& node : fault.nodes) where += (where.empty() ? "" : ", ") + node;
  if (fault.process)
    return fmt::format("{} of process {}{}", fault.kind, number(*fault.process), where.empty() ? "" : " on " + where);
  if (fault.server) return fmt::format("{} of the server{}", fault.kind, where.empty() ? "" : " on " + where);
  if (where.empty()) return fault.kind;
  return fmt::format("{} {} {}", fault.kind, fault.kind == "partition" ? "between" : "of", where);
}

}  // namespace holdfast
