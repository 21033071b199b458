#include "checkers/tokens.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast {

namespace {

struct Grant {
  const Hold* hold = nullptr;
  std::int64_t token = 0;
  [[nodiscard]] Time inv() const { return hold->acquire->invoke->time; }
  [[nodiscard]] Time ret() const { return hold->acquire->complete->time; }
};

Finding token_finding(const char* kind, const Grant& first, const Grant& second, std::string because) {
  Finding finding;
  finding.kind = kind;
  finding.because = std::move(because);
  for (const Hold* hold : {first.hold, second.hold}) {
    finding.events.push_back(hold->acquire->invoke->index);
    finding.events.push_back(hold->acquire->complete->index);
  }
  finding.detail = {{"key", first.hold->key()},
                    {"holds", {first.hold->id, second.hold->id}},
                    {"tokens", {first.token, second.token}}};
  return finding;
}

std::vector<Finding> repeated(const std::string& name, std::vector<Grant> grants) {
  std::vector<Finding> findings;
  std::ranges::sort(grants, {}, [](const Grant& grant) { return std::pair(grant.token, grant.hold->id); });
  for (std::size_t i = 1; i < grants.size(); ++i) {
    if (grants[i].token != grants[i - 1].token) continue;
    findings.push_back(
        token_finding("token-repeated", grants[i - 1], grants[i],
                      fmt::format("{}: token {} was issued twice, to {} and to {}", name, grants[i].token,
                                  grants[i - 1].hold->describe(), grants[i].hold->describe())));
  }
  return findings;
}

std::vector<Finding> went_back(const std::string& name, std::vector<Grant> grants) {
  std::vector<Finding> findings;
  std::vector<Grant> by_return = grants;
  std::ranges::sort(by_return, {}, &Grant::ret);
  std::ranges::sort(grants, {}, &Grant::inv);
  const Grant* greatest = nullptr;  // of those that had been answered before
  std::size_t next = 0;
  for (const Grant& grant : grants) {
    for (; next < by_return.size() && by_return[next].ret() < grant.inv(); ++next) {
      if (greatest == nullptr || by_return[next].token > greatest->token) greatest = &by_return[next];
    }
    if (greatest == nullptr || greatest->token <= grant.token) continue;
    findings.push_back(token_finding(
        "token-went-back", *greatest, grant,
        fmt::format(
            "{}: {} was granted the lock with token {} after {} had been granted it with token {}; tokens must grow",
            name, grant.hold->describe(), grant.token, greatest->hold->describe(), greatest->token)));
  }
  return findings;
}

}  // namespace

void TokensChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.applicable = false;
  verdict.exposure = "grants while or after a fault hit a holder";
  for (const auto& [name, key] : scene.locks.keys) {
    std::vector<Grant> grants;
    Time first_hit = kNever;
    for (const Hold& hold : key.holds) {
      if (!hold.granted()) continue;
      for (const FaultRecord* fault : scene.faults_on(hold, hold.believed))
        first_hit = std::min(first_hit, fault->start);
      if (hold.token) grants.push_back({.hold = &hold, .token = *hold.token});
    }
    verdict.applicable |= !grants.empty();
    for (const Grant& grant : grants) verdict.exposures += grant.ret() >= first_hit ? 1U : 0U;
    for (Finding& finding : repeated(name, grants)) add(verdict, std::move(finding));
    for (Finding& finding : went_back(name, grants)) add(verdict, std::move(finding));
  }
}

}  // namespace holdfast
