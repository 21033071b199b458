#include "checkers/ownership.h"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast {

namespace {

struct Release {
  const Hold* hold = nullptr;
  const Operation* operation = nullptr;
  [[nodiscard]] Time inv() const { return operation->invoke->time; }
  [[nodiscard]] Time ret() const { return operation->unknown() ? kNever : operation->complete->time; }
};

struct Loss {
  const Hold* hold = nullptr;
  Time by{};  // it was lost by then
  const Operation* proof = nullptr;
  bool not_held = false;  // the proof is an answer to its own release; else somebody else was granted the lock
};

void append_events(Finding& finding, const Operation& operation) {
  finding.events.push_back(operation.invoke->index);
  if (operation.complete != nullptr) finding.events.push_back(operation.complete->index);
}

std::string own_lease_text(const Hold& hold, Time at) {
  if (!hold.granted()) return "nobody knows whether it had been granted the lock at all";
  if (!hold.lease) return "it had been granted the lock without a lease";
  const Time end = hold.lease_end();
  if (end >= at) return fmt::format("its own lease of {} was about to end", milliseconds_text(*hold.lease));
  return fmt::format("its own lease of {} had run out up to {} before", milliseconds_text(*hold.lease),
                     milliseconds_text(at - end));
}

Finding freed_finding(const Release& release, const Hold& victim) {
  const Interval certain = victim.certain();
  Finding finding;
  finding.kind = "freed-anothers-lock";
  finding.because = fmt::format(
      "{}: a release by {} was answered ok at {} while {} certainly held the lock (from {} {}); {}", victim.key(),
      release.hold->describe(), seconds_text(release.ret()), victim.describe(), seconds_text(certain.from),
      certain.to == kNever ? std::string("on") : "to " + seconds_text(certain.to),
      own_lease_text(*release.hold, release.inv()));
  append_events(finding, *release.hold->acquire);
  append_events(finding, *victim.acquire);
  append_events(finding, *release.operation);
  finding.detail = {{"key", victim.key()}, {"holds", {release.hold->id, victim.id}}};
  return finding;
}

Finding loss_finding(const Loss& loss, const std::vector<Release>& causes) {
  const Hold& victim = *loss.hold;
  Finding finding;
  finding.kind = "freed-anothers-lock";
  const std::string proof = loss.not_held
                                ? std::string("its release was answered \"not held\"")
                                : fmt::format("process {} was granted the lock", number(loss.proof->invoke->process));
  finding.because = fmt::format("{}: {} lost the lock before its lease could end ({} by {}); ", victim.key(),
                                victim.describe(), proof, seconds_text(loss.by));
  finding.because += causes.size() == 1 ? "the only release that can have freed it is that of "
                                        : fmt::format("one of {} releases freed it: ", causes.size());
  finding.detail = {{"key", victim.key()}, {"victim", victim.id}, {"candidates", Value::array()}};
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (i < 5) finding.because += (i > 0 ? ", " : "") + causes[i].hold->describe();
    finding.detail["candidates"].push_back(causes[i].hold->id);
    append_events(finding, *causes[i].operation);
  }
  if (causes.size() == 1) finding.because += ": " + own_lease_text(*causes[0].hold, causes[0].inv());
  append_events(finding, *victim.acquire);
  append_events(finding, *loss.proof);
  return finding;
}

bool server_was_broken(const Scene& scene, const Interval& during) {
  return std::ranges::any_of(scene.faults, [&](const FaultRecord& fault) {
    if (!fault.effective || fault.process) return false;
    const bool clients_only = !fault.server && std::ranges::any_of(fault.nodes, [&](const std::string& node) {
      return scene.client_nodes.contains(node);
    });
    return !clients_only && fault.start <= during.to && fault.end >= during.from;
  });
}

class KeyOwnership {
 public:
  KeyOwnership(const Scene& scene, const LockKey& key) : scene_(scene) {
    for (const Hold& hold : key.holds) {
      if (hold.granted()) granted_.push_back(&hold);
      for (const Operation* release : hold.releases) {
        if (!release->failed()) releases_.push_back({.hold = &hold, .operation = release});
      }
    }
    std::ranges::sort(granted_, {}, [](const Hold* hold) { return hold->certain().from; });
  }

  std::vector<Finding> findings() {
    freed_while_held();
    lost_early();
    return std::move(findings_);
  }

 private:
  // Proof (1). Of the holds that had begun by the release's call, the one that certainly lasted longest decides; the
  // second longest stands in when that one is the releaser itself.
  void freed_while_held() {
    std::vector<Release> answered;
    for (const Release& release : releases_) {
      if (release.operation->ok()) answered.push_back(release);
    }
    std::ranges::sort(answered, {}, &Release::inv);
    const Hold* longest = nullptr;
    const Hold* second = nullptr;
    std::size_t next = 0;
    for (const Release& release : answered) {
      for (; next < granted_.size() && granted_[next]->certain().from <= release.inv(); ++next) {
        const Hold* const hold = granted_[next];
        if (longest == nullptr || hold->certain().to > longest->certain().to) {
          second = std::exchange(longest, hold);
        } else if (second == nullptr || hold->certain().to > second->certain().to) {
          second = hold;
        }
      }
      const Hold* const victim = longest == release.hold ? second : longest;
      if (victim == nullptr || victim->certain().to < release.ret()) continue;
      // A releaser whose own lease still ran is a second holder, not a thief: the service checker tells of it.
      if (release.hold->granted() && release.ret() <= release.hold->lease_end()) continue;
      findings_.push_back(freed_finding(release, *victim));
      victims_.push_back(victim);
    }
  }

  // Proof (2).
  void lost_early() {
    std::vector<const Hold*> by_invoke = granted_;
    std::ranges::sort(by_invoke, {}, [](const Hold* hold) { return hold->acquire->invoke->time; });
    std::vector<const Hold*> first_return = by_invoke;  // of the grants from here on, the one that returned first
    for (std::size_t i = first_return.size(); i-- > 1;) {
      if (first_return[i]->acquire->complete->time < first_return[i - 1]->acquire->complete->time) {
        first_return[i - 1] = first_return[i];
      }
    }
    for (const Hold* hold : granted_) {
      std::optional<Loss> loss = answered_not_held(*hold);
      const Interval certain = hold->certain();
      const auto after = std::ranges::upper_bound(by_invoke, certain.from, {},
                                                  [](const Hold* other) { return other->acquire->invoke->time; });
      if (after != by_invoke.end()) {
        const Hold* const intruder = first_return[static_cast<std::size_t>(after - by_invoke.begin())];
        const Time by = intruder->acquire->complete->time;
        if (by < certain.to && (!loss || by < loss->by))
          loss = Loss{.hold = hold, .by = by, .proof = intruder->acquire, .not_held = false};
      }
      if (loss) attribute(*loss);
    }
  }

  static std::optional<Loss> answered_not_held(const Hold& hold) {
    for (const Operation* release : hold.releases) {
      if (!release->failed()) return std::nullopt;  // it may have freed its lock itself
      if (!has_error(*release, "not-held")) continue;
      if (release->complete->time >= hold.lease_end()) return std::nullopt;
      return Loss{.hold = &hold, .by = release->complete->time, .proof = release, .not_held = true};
    }
    return std::nullopt;
  }

  // A release can have hit the victim only if it was under way between the victim's acquire and the loss, and if the
  // releaser's own lease can have ended by the time the victim was granted the lock: otherwise it freed its own lock,
  // which is how the victim came by it.
  void attribute(const Loss& loss) {
    if (std::ranges::find(victims_, loss.hold) != victims_.end()) return;  // already told
    const Interval exposed{.from = loss.hold->acquire->invoke->time, .to = loss.by};
    if (server_was_broken(scene_, exposed)) return;
    std::vector<Release> causes;
    for (const Release& release : releases_) {
      if (release.hold == loss.hold || release.inv() > exposed.to || release.ret() < exposed.from) continue;
      if (!release.hold->granted() || release.hold->lease_end() > loss.hold->acquire->complete->time) continue;
      causes.push_back(release);
    }
    if (!causes.empty()) findings_.push_back(loss_finding(loss, causes));
  }

  const Scene& scene_;
  std::vector<const Hold*> granted_;
  std::vector<Release> releases_;  // answered ok, or unknown
  std::vector<const Hold*> victims_;
  std::vector<Finding> findings_;
};

}  // namespace

void OwnershipChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.applicable = false;
  verdict.exposure = "releases after a fault hit the holder or after its lease had run out";
  for (const auto& [name, key] : scene.locks.keys) {
    for (Finding& finding : KeyOwnership(scene, key).findings()) add(verdict, std::move(finding));
    for (const Hold& hold : key.holds) {
      for (const Operation* release : hold.releases) {
        verdict.applicable = true;
        const Time until = release->complete != nullptr ? release->complete->time : scene.locks.end;
        const bool hit = !scene.faults_on(hold, {.from = hold.acquire->invoke->time, .to = until}).empty();
        if (hit || release->invoke->time >= hold.lease_end()) ++verdict.exposures;
      }
    }
    verdict.applicable |= !key.attempts.empty();
  }
}

}  // namespace holdfast
