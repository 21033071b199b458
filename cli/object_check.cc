#include "cli/object_check.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "checkers/object_verdict.h"
#include "checkers/verify/certificate.h"
#include "harness/error.h"

namespace holdfast {

namespace {

using Clock = std::chrono::steady_clock;

Stats stats_of(const formats::RecordedHistory& history) {
  Stats stats;
  stats.events = history.size() + history.kept_out;
  stats.truncated = history.truncated;
  formats::for_each_operation(
      history, [&](const formats::RecordedEvent& asked, const formats::RecordedEvent* answered) {
        Stats::Count& count = stats.by_function[std::string(history.text(asked.f))];
        const EventType type = answered == nullptr ? EventType::info : answered->type;
        (type == EventType::ok ? count.ok : type == EventType::fail ? count.fail : count.info) += 1;
      });
  for (const auto& [f, count] : stats.by_function) {
    stats.operations.ok += count.ok;
    stats.operations.fail += count.fail;
    stats.operations.info += count.info;
  }
  if (history.timed && history.size() > 0) stats.duration = Time(history[history.size() - 1].time - history[0].time);
  return stats;
}

}  // namespace

ObjectResults check_objects(const ObjectCheck& check) {
  const ModelEntry& model = find_model(check.model);
  ObjectResults checked;
  checked.history = formats::read_recorded(check.file, check.reading);
  const Clock::time_point begin = Clock::now();
  checked.objects = recorded_objects(checked.history, model, check.options);
  objects::Limits limits;
  limits.bytes = check.bytes;
  if (check.limit > Time{}) limits.deadline = begin + check.limit;
  checked.decisions = decide_objects(checked.objects, limits);
  PropertyResult property;
  property.name = "linearizability";
  property.title = fmt::format("linearizable as {}", model.name);
  property.verdict = verdict_of(checked.history, checked.objects, checked.decisions);
  property.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  checked.results.validity = property.verdict.validity;
  checked.results.properties.push_back(std::move(property));
  checked.results.stats = stats_of(checked.history);
  return checked;
}

std::string certificates_text(const ObjectResults& checked) {
  std::string text;
  for (std::size_t i = 0; i < checked.objects.size(); ++i) {
    const RecordedObject& object = checked.objects[i];
    text += verify::write_certificate(
        {.key = object.key, .promise = object.promise, .decision = checked.decisions[i], .witness_file = {}});
    text += '\n';
  }
  return text;
}

std::size_t parse_bytes(std::string_view option, std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  const unsigned shift = unit == "G" ? 30 : unit == "M" ? 20 : unit == "K" ? 10 : 0;
  if (error != std::errc{} || (shift == 0 && !unit.empty()) || number == 0 || number > (SIZE_MAX >> shift)) {
    throw UsageError(fmt::format("{} is \"{}\"; write a size such as 500M or 4G", option, text));
  }
  return number << shift;
}

}  // namespace holdfast
