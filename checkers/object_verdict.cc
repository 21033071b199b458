#include "checkers/object_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace holdfast {

namespace {

using formats::RecordedEvent;
using formats::RecordedHistory;
using objects::Answer;
using objects::Decision;

constexpr std::size_t kMostFindings = 20;

// "process 3's write of 7 (events 12, 15)"
std::string describe(const RecordedHistory& history, const RecordedObject::Place& place) {
  const RecordedEvent& asked = history[place.invoke];
  const RecordedEvent& answered = history[place.complete];
  std::string text = fmt::format("process {}'s {}", asked.process, history.text(asked.f));
  const bool told = place.complete != place.invoke && answered.type == EventType::ok;
  if (asked.hold != formats::kNoHold) {
    text += fmt::format(" of hold {}", asked.hold);
  } else if (told && !answered.value.nothing()) {
    text += fmt::format(" of {}", history.describe(answered.value));
  } else if (!asked.value.nothing()) {
    text += fmt::format(" of {}", history.describe(asked.value));
  }
  text += fmt::format(" (event{} {}", place.complete == place.invoke ? "" : "s", history.ordinal(place.invoke));
  if (place.complete != place.invoke) text += fmt::format(", {}", history.ordinal(place.complete));
  return text + ')';
}

// {0}, {1}, … of a decision's sentence stand for the members of its core.
std::string fill_in(const std::string& sentence, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::size_t end = sentence[i] == '{' ? sentence.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      text += sentence[i];
      continue;
    }
    std::size_t number = 0;
    bool digits = end > i + 1;
    for (std::size_t at = i + 1; at < end; ++at) {
      digits &= sentence[at] >= '0' && sentence[at] <= '9';
      number = number * 10 + static_cast<std::size_t>(sentence[at] - '0');
    }
    if (digits && number < names.size()) {
      text += names[number];
      i = end;
    } else {
      text += sentence[i];
    }
  }
  return text;
}

Finding finding_of(const RecordedHistory& history, const RecordedObject& object, const Decision& decision) {
  Finding finding;
  finding.kind = decision.rule;
  std::vector<std::string> names;
  for (const std::uint32_t member : decision.core) {
    const RecordedObject::Place& place = object.places[member];
    names.push_back(describe(history, place));
    finding.events.push_back(history.ordinal(place.invoke));
    if (place.complete != place.invoke) finding.events.push_back(history.ordinal(place.complete));
  }
  std::ranges::sort(finding.events);
  finding.because = (object.key.empty() ? "" : object.key + ": ") + fill_in(decision.because, names);
  finding.detail = {{"core", decision.core.size()}};
  if (!object.key.empty()) finding.detail["key"] = object.key;
  return finding;
}

}  // namespace

std::vector<Decision> decide_objects(std::span<const RecordedObject> objects, const objects::Limits& limits) {
  std::vector<Decision> decisions(objects.size());
  std::atomic<std::size_t> next = 0;
  const unsigned cores = limits.threads != 0 ? limits.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::size_t workers = std::min<std::size_t>(cores, objects.size());
  objects::Limits each = limits;
  each.threads = objects.size() == 1 ? cores : 1;
  if (limits.bytes != 0 && workers > 1) each.bytes = limits.bytes / workers;
  std::vector<std::exception_ptr> failures(workers);
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        try {
          for (std::size_t i = next++; i < objects.size(); i = next++) {
            decisions[i] = objects::decide(objects[i].promise, objects[i].operations, each);
          }
        } catch (...) {
          failures[worker] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return decisions;
}

Verdict verdict_of(const RecordedHistory& history, std::span<const RecordedObject> objects,
                   std::span<const Decision> decisions) {
  Verdict verdict;
  std::uint64_t searched = 0;
  std::size_t broken = 0;
  verdict.exposure = "operations whose effect is known";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Decision& decision = decisions[i];
    searched += decision.searched;
    verdict.exposures += static_cast<std::uint64_t>(std::ranges::count_if(
        objects[i].operations, [](const objects::Operation& operation) { return !operation.unknown(); }));
    if (decision.answer == Answer::violation) {
      verdict.validity = Validity::invalid;
      if (++broken <= kMostFindings) verdict.findings.push_back(finding_of(history, objects[i], decision));
    } else if (decision.answer == Answer::undecided) {
      verdict.validity = std::max(verdict.validity, Validity::unknown);
      if (!verdict.reason.empty()) continue;
      verdict.reason = (objects[i].key.empty() ? "" : objects[i].key + ": ") + decision.because;
      if (decision.proven_until) verdict.detail["proven_until"] = *decision.proven_until;
    }
  }
  if (verdict.exposures == 0 && verdict.validity == Validity::valid) {
    verdict.validity = Validity::unknown;
    verdict.reason = "the history has no operation whose effect is known";
  }
  verdict.detail["objects"] = objects.size();
  verdict.detail["searched_operations"] = searched;
  if (broken > kMostFindings) verdict.detail["more_findings"] = broken - kMostFindings;
  return verdict;
}

}  // namespace holdfast
