#include "nemesis/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"
#include "harness/nearest.h"
#include "nemesis/links.h"
#include "nemesis/registry.h"

namespace holdfast {

namespace {

using When = FaultPlan::When;

constexpr std::array<std::string_view, 5> kTriggers = {"time", "acquired", "reading", "acknowledged", "step"};

void set_trigger(FaultPlan& plan, std::string_view text, const SystemEntry& system) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto* const found = std::find(kTriggers.begin(), kTriggers.end(), name);
  if (found == kTriggers.end()) {
    throw UsageError(
        fmt::format("unknown trigger \"@{}\" of fault {}; {}", name, plan.fault, did_you_mean(name, kTriggers)));
  }
  plan.when = static_cast<When>(found - kTriggers.begin());
  if (plan.when != When::step) return;
  plan.step = text.size() > name.size() ? text.substr(name.size() + 1) : "";
  if (std::find(system.steps.begin(), system.steps.end(), plan.step) != system.steps.end()) return;
  if (system.steps.empty()) {
    throw UsageError(
        fmt::format("trigger \"@{}\": clients of {} announce no steps; use @acquired or @reading", text, system.name));
  }
  throw UsageError(
      fmt::format("unknown step \"{}\" of {}; {}", plan.step, system.name, did_you_mean(plan.step, system.steps)));
}

// TARGET or TARGET/PARAMETERS; the fault itself says what is wrong with either, now and not in the middle of a run.
void set_target(FaultPlan& plan, std::string_view text, const FaultEntry& entry) {
  const std::string_view wanted = entry.takes_parameters ? text.substr(0, text.find('/')) : text;
  std::vector<std::string_view> names;
  for (const FaultTarget& target : entry.targets) {
    if (target.name == wanted) {
      plan.target = text;
      plan.when = target.when;
      return;
    }
    names.push_back(target.name);
  }
  if (entry.takes_links && wanted.find_first_of(">-") != std::string_view::npos) {
    plan.target = text;
    static_cast<void>(parse_links(std::string(wanted)));
    return;
  }
  throw UsageError(fmt::format("unknown target \"{}\" of fault {}; {}", text, entry.name, did_you_mean(text, names)));
}

// A fault that hits "the holder" needs an event that says who that is.
void check_trigger_fits(const FaultPlan& plan, const FaultEntry& entry) {
  for (const FaultTarget& target : entry.targets) {
    if (target.name == std::string_view(plan.target).substr(0, plan.target.find('/')) && target.client_of_trigger &&
        plan.when == When::at_times) {
      throw UsageError(fmt::format("{}:{}@time: there is no holder at a time; use @acquired, @reading or @step:NAME",
                                   plan.fault, plan.target));
    }
  }
}

}  // namespace

std::string to_string(const FaultPlan& plan) {
  return fmt::format("{}:{}@{}{}{}", plan.fault, plan.target, kTriggers.at(static_cast<std::size_t>(plan.when)),
                     plan.step.empty() ? "" : ":", plan.step);
}

FaultPlan parse_fault_plan(std::string_view text, const SystemEntry& system) {
  const std::size_t at = text.find('@');
  const std::string_view what = text.substr(0, at);
  const std::size_t colon = what.find(':');
  FaultPlan plan;
  plan.fault = what.substr(0, colon);
  const FaultEntry& entry = find_fault(plan.fault);
  set_target(plan, colon == std::string_view::npos ? entry.targets.front().name : what.substr(colon + 1), entry);
  static_cast<void>(entry.make(plan.target));
  if (at != std::string_view::npos) set_trigger(plan, text.substr(at + 1), system);
  check_trigger_fits(plan, entry);
  return plan;
}

std::vector<FaultPlan> parse_fault_plans(const std::vector<std::string>& texts, const SystemEntry& system) {
  std::vector<FaultPlan> plans;
  for (const std::string& text : texts) {
    if (text != "none" && !text.empty()) plans.push_back(parse_fault_plan(text, system));
  }
  return plans;
}

bool sets_off(const FaultPlan& plan, const Event& event) {
  switch (plan.when) {
    case When::at_times:
      return false;
    case When::acquired:
    case When::acknowledged:
      return event.type == EventType::ok && event.f == "acquire";
    case When::reading:
      return event.type == EventType::ok && event.f == "read";
    case When::step:
      return event.f == "step" && event.value.is_object() && event.value.value("step", "") == plan.step;
  }
  return false;
}

}  // namespace holdfast
