#include "checkers/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "checkers/registry.h"

namespace holdfast {

namespace {

Verdict unknown_because(std::string reason) {
  Verdict verdict;
  verdict.validity = Validity::unknown;
  verdict.reason = std::move(reason);
  return verdict;
}

Verdict check_safely(const Checker& checker, const History& history, const Budget& budget) {
  if (budget.stop.stop_requested()) return unknown_because("not judged: the time for checking was over");
  try {
    return checker.check(history, budget);
  } catch (const std::exception& error) {
    return unknown_because(fmt::format("not judged: {}", error.what()));
  }
}

// Every lock checker tells in its detail how the faults went: {"faults":{"not_effective":[…],"not_healed":[…]}}.
bool faults_went_wrong(const Verdict& verdict) {
  if (!verdict.detail.is_object()) return false;
  const auto faults = verdict.detail.find("faults");
  if (faults == verdict.detail.end() || !faults->is_object()) return false;
  return std::ranges::any_of(std::initializer_list<const char*>{"not_effective", "not_healed"}, [&](const char* field) {
    const auto ids = faults->find(field);
    return ids != faults->end() && !ids->empty();
  });
}

}  // namespace

std::vector<Judgement> judge(const History& history, std::span<const std::unique_ptr<Checker>> checkers,
                             const Budget& budget) {
  std::vector<Judgement> judgements;
  judgements.reserve(checkers.size());
  for (const auto& checker : checkers) {
    const auto began = std::chrono::steady_clock::now();
    Judgement judgement;
    judgement.name = checker->name();
    judgement.title = checker_title(checker->name());
    judgement.verdict = check_safely(*checker, history, budget);
    judgement.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
    judgements.push_back(std::move(judgement));
  }
  return judgements;
}

Validity overall(std::span<const Judgement> judgements) {
  bool exercised = false;
  bool doubtful = false;
  for (const Judgement& judgement : judgements) {
    const Verdict& verdict = judgement.verdict;
    if (faults_went_wrong(verdict)) doubtful = true;
    if (!verdict.applicable) continue;
    if (verdict.validity == Validity::invalid) return Validity::invalid;
    const bool essential =
        judgement.name == "service" || judgement.name == "clients" || judgement.name == "linearizability";
    if (verdict.validity == Validity::unknown && essential) doubtful = true;
    if (verdict.validity == Validity::valid && verdict.exposures > 0) exercised = true;
  }
  return exercised && !doubtful ? Validity::valid : Validity::unknown;
}

}  // namespace holdfast
