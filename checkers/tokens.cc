#include "checkers/tokens.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast {

namespace {

Finding token_finding(const char* kind, const Hold& first, const Hold& second, std::string because) {
  Finding finding;
  finding.kind = kind;
  finding.because = std::move(because);
  for (const Hold* hold : {&first, &second}) {
    finding.events.push_back(hold->acquire->invoke->index);
    finding.events.push_back(hold->acquire->complete->index);
  }
  finding.detail = {{"key", first.key()}, {"holds", {first.id, second.id}}, {"tokens", {*first.token, *second.token}}};
  return finding;
}

}  // namespace

void TokensChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.applicable = false;
  verdict.exposure = "grants while or after a fault hit a holder";
  for (const auto& [name, key] : scene.locks.keys) {
    std::vector<const Hold*> granted;
    Time first_hit = kNever;
    for (const Hold& hold : key.holds) {
      if (!hold.granted()) continue;
      for (const FaultRecord* fault : scene.faults_on(hold, hold.believed))
        first_hit = std::min(first_hit, fault->start);
      if (hold.token) granted.push_back(&hold);
    }
    if (granted.empty()) continue;
    verdict.applicable = true;
    for (const Hold* hold : granted) verdict.exposures += hold->acquire->complete->time >= first_hit ? 1U : 0U;

    std::ranges::sort(granted, {}, [](const Hold* hold) { return std::pair(*hold->token, hold->id); });
    for (std::size_t i = 1; i < granted.size(); ++i) {
      if (*granted[i]->token != *granted[i - 1]->token) continue;
      add(verdict, token_finding("token-repeated", *granted[i - 1], *granted[i],
                                 fmt::format("{}: token {} was issued twice, to {} and to {}", name, *granted[i]->token,
                                             granted[i - 1]->describe(), granted[i]->describe())));
    }

    std::vector<const Hold*> by_return = granted;
    std::ranges::sort(by_return, {}, [](const Hold* hold) { return hold->acquire->complete->time; });
    std::ranges::sort(granted, {}, [](const Hold* hold) { return hold->acquire->invoke->time; });
    const Hold* greatest = nullptr;
    std::size_t next = 0;
    for (const Hold* hold : granted) {
      for (; by_return[next]->acquire->complete->time < hold->acquire->invoke->time; ++next) {
        if (greatest == nullptr || *by_return[next]->token > *greatest->token) greatest = by_return[next];
      }
      if (greatest == nullptr || *greatest->token <= *hold->token) continue;
      add(verdict,
          token_finding("token-went-back", *greatest, *hold,
                        fmt::format("{}: {} was granted the lock with token {} after {} had been granted it "
                                    "with token {}; tokens must grow",
                                    name, hold->describe(), *hold->token, greatest->describe(), *greatest->token)));
    }
  }
}

}  // namespace holdfast
