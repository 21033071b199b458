#include "checkers/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace holdfast {

namespace {

constexpr std::uint64_t kLeastAttempts = 3;

// An acquire that nobody answered and whose client lives on: it waits, and holds nothing yet.
bool still_waiting(const Hold& hold) {
  return hold.acquire->complete == nullptr && hold.exited == nullptr;
}

// When the holder stopped being one, as far as the clients know.
Time gone_at(const Hold& hold, Time end) {
  if (hold.granted()) return hold.believed.to;
  if (hold.acquire->complete != nullptr) return hold.acquire->complete->time;
  return hold.exited != nullptr ? hold.exited->time : end;
}

// May it still occupy the lock? Not when it gave it back, or was told that it does not have it.
bool may_occupy(const Hold& hold) {
  if (still_waiting(hold) || hold.released() != nullptr) return false;
  return std::ranges::none_of(hold.releases, [](const Operation* release) { return has_error(*release, "not-held"); });
}

// Clients also end when the run does; only a death that somebody outlived to ask for the lock says anything.
bool died(const LockKey& key, const Hold& hold) {
  if (hold.exited == nullptr || hold.released() != nullptr) return false;
  return !key.attempts.empty() && key.attempts.back()->invoke->time > hold.exited->time;
}

std::string death_text(const LockHistory& locks, const Hold& hold) {
  std::string text = hold.describe();
  if (hold.exited != nullptr) {
    const Value& how = hold.exited->value;
    const bool killed = how.is_object() && how.contains("signal");
    const bool ended = how.is_object() && how.contains("exit");
    text += killed  ? fmt::format(" died of signal {}", how["signal"].dump())
            : ended ? fmt::format(" ended with status {}", how["exit"].dump())
                    : std::string(" died");
    text += fmt::format(" at {}", seconds_text(hold.exited->time));
  } else {
    text += fmt::format(" was last heard of at {}", seconds_text(gone_at(hold, locks.end)));
  }
  text += hold.granted() ? " while it held the lock" : " while it was acquiring the lock";
  if (!hold.releases.empty()) text = text + ", with a release under way";
  const auto step = locks.last_steps.find(number(hold.process));
  if (step != locks.last_steps.end() && step->second->value.is_object() && step->second->value.contains("step")) {
    text += fmt::format(" (its last step: {})", step->second->value["step"].dump());
  }
  return text;
}

struct Attempts {
  std::uint64_t count = 0;
  std::set<Process> processes;
  Time from = kNever;
  Time to{};
  std::vector<std::uint64_t> events;  // of the first and the last
  [[nodiscard]] Time span() const { return count == 0 ? Time{} : to - from; }
};

// Acquires of live clients that were refused, or still wait, after `since`.
Attempts attempts_after(const LockKey& key, const LockHistory& locks, Time since) {
  Attempts attempts;
  for (const Operation* attempt : key.attempts) {
    const bool waiting = attempt->complete == nullptr && !locks.exits.contains(number(attempt->invoke->process));
    const bool refused = attempt->failed() && (attempt->complete->error.is_null() || has_error(*attempt, "held"));
    if (!waiting && !refused) continue;
    const Time until = waiting ? locks.end : attempt->complete->time;
    if (until <= since) continue;
    ++attempts.count;
    attempts.processes.insert(attempt->invoke->process);
    if (attempts.from == kNever) {
      attempts.from = std::max(since, attempt->invoke->time);
      attempts.events.push_back(attempt->invoke->index);
    }
    if (until >= attempts.to) {
      attempts.to = until;
      attempts.events.resize(1);
      attempts.events.push_back(waiting ? attempt->invoke->index : attempt->complete->index);
    }
  }
  return attempts;
}

struct KeyState {
  Time quiet_since{};  // from here on nobody who lives believes to hold it, and no fault is active
  Time last_grant = Time::min();
  Time patience{};
  std::vector<const Hold*> suspects;  // gone without giving the lock back, and nobody was granted it since
};

KeyState state_of(const Scene& scene, const LockKey& key) {
  KeyState state;
  state.patience = key.patience();
  for (const FaultRecord& fault : scene.faults) {
    if (fault.effective) state.quiet_since = std::max(state.quiet_since, std::min(fault.end, scene.locks.end));
  }
  for (const Hold& hold : key.holds) {
    if (hold.granted()) state.last_grant = std::max(state.last_grant, hold.acquire->complete->time);
    if (!still_waiting(hold)) state.quiet_since = std::max(state.quiet_since, gone_at(hold, scene.locks.end));
  }
  for (const Hold& hold : key.holds) {
    if (may_occupy(hold) && gone_at(hold, scene.locks.end) >= state.last_grant) state.suspects.push_back(&hold);
  }
  return state;
}

Finding deadlock_finding(const Scene& scene, const std::string& name, const KeyState& state, const Attempts& attempts) {
  Finding finding;
  finding.events = attempts.events;
  const std::string refused = fmt::format("{} attempts of {} processes over {} were refused, to the end of the history",
                                          attempts.count, attempts.processes.size(), seconds_text(attempts.span()));
  finding.detail = {{"key", name},
                    {"attempts", attempts.count},
                    {"processes", attempts.processes.size()},
                    {"span_ms", milliseconds(attempts.span())}};
  if (state.suspects.empty()) {
    finding.kind = "lost-lock";
    finding.because = fmt::format("{}: nobody holds the lock, every holder gave it back, and yet {}", name, refused);
    return finding;
  }
  // The dead explain more than those whose outcome is merely unknown, and of the dead the last one held it last.
  const Hold* holder = state.suspects.back();
  for (const Hold* suspect : state.suspects) {
    if (suspect->exited != nullptr || holder->exited == nullptr) holder = suspect;
  }
  finding.kind = "deadlock";
  finding.because =
      fmt::format("{}: {}, and the lock never came free: {}", name, death_text(scene.locks, *holder), refused);
  for (const std::uint64_t event : holder->events()) finding.events.push_back(event);
  if (holder->exited != nullptr) finding.events.push_back(holder->exited->index);
  finding.detail["hold"] = holder->id;
  finding.detail["process"] = number(holder->process);
  return finding;
}

void count_exposures(const Scene& scene, const LockKey& key, const KeyState& state, Verdict& verdict) {
  for (const Hold& hold : key.holds) {
    if (died(key, hold)) {
      ++verdict.exposures;
      continue;
    }
    if (!hold.granted()) continue;
    const auto faults = scene.faults_on(hold, hold.believed);
    if (std::ranges::any_of(faults, [&](const FaultRecord* fault) { return state.last_grant > fault->start; })) {
      ++verdict.exposures;
    }
  }
}

// Somebody whose death leaves the question open: it was outlived, or a fault killed it.
const Hold* dead_suspect(const Scene& scene, const LockKey& key, const KeyState& state) {
  for (const Hold* hold : state.suspects) {
    const bool killed = hold->exited != nullptr && !scene.faults_on(*hold, hold->believed).empty();
    if (killed || died(key, *hold)) return hold;
  }
  return nullptr;
}

}  // namespace

void DeadlockChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.applicable = false;
  verdict.exposure = "dead holders, and holders hit by a fault whose lock was granted again";
  for (const auto& [name, key] : scene.locks.keys) {
    if (key.attempts.empty()) continue;
    verdict.applicable = true;
    const KeyState state = state_of(scene, key);
    const Attempts attempts = attempts_after(key, scene.locks, state.quiet_since);
    count_exposures(scene, key, state, verdict);
    const bool long_enough = attempts.count >= kLeastAttempts && attempts.span() >= state.patience;
    if (long_enough) {
      add(verdict, deadlock_finding(scene, name, state, attempts));
      continue;
    }
    const Hold* const dead = dead_suspect(scene, key, state);
    if (dead == nullptr) continue;
    verdict.validity = Validity::unknown;
    verdict.reason += fmt::format(
        "{}{}: {}, and only {} attempts over {} followed, without faults, to the end; {} are needed to call it a "
        "deadlock",
        verdict.reason.empty() ? "" : "; ", name, death_text(scene.locks, *dead), attempts.count,
        seconds_text(attempts.span()), seconds_text(state.patience));
  }
}

}  // namespace holdfast
