#include "checkers/wakeup.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace holdfast {

namespace {

// An acquire that may hold the lock without anybody knowing leaves no certainly free time until it is resolved.
Time resolved_at(const Hold& hold) {
  const Operation* const release = hold.released();
  return release != nullptr ? release->complete->time : kNever;
}

struct Waiter {
  const Operation* acquire = nullptr;
  Time from{};
  Time to{};  // answered, given up, or the end of the history
};

// From here on the lock was certainly free, until somebody was granted it.
struct Gap {
  const Hold* before = nullptr;
  Time from{};
  Time to{};
  const Operation* grant = nullptr;  // null: nobody, to the end
};

// Of those who began to wait up to some time: who waited longest. Times are asked in order.
struct Patient {
  const Waiter* waiter = nullptr;
  std::size_t next = 0;
  void advance(const std::vector<Waiter>& waiters, Time time) {
    for (; next < waiters.size() && waiters[next].from <= time; ++next) {
      if (waiters[next].to > until()) waiter = &waiters[next];
    }
  }
  [[nodiscard]] Time until() const { return waiter == nullptr ? Time::min() : waiter->to; }
};

class Key {
 public:
  Key(const Scene& scene, const std::string& name, const LockKey& key)
      : scene_(scene), name_(name), key_(key), patience_(key.patience()) {
    for (const Operation* attempt : key.attempts) {
      const auto exited = scene.locks.exits.find(number(attempt->invoke->process));
      Time to = attempt->complete != nullptr ? attempt->complete->time : scene.locks.end;
      if (exited != scene.locks.exits.end()) to = std::min(to, exited->second->time);
      waiters_.push_back({attempt, attempt->invoke->time, to});
    }
  }

  // `waits`: how often somebody who had waited through a whole hold was there when it ended. Others may just have
  // asked.
  void examine(std::uint64_t& waits, const std::function<void(Finding)>& add) {
    Patient through;
    Patient there;
    for (const Gap& gap : gaps()) {
      through.advance(waiters_, gap.before->acquire->complete->time);
      there.advance(waiters_, gap.from);
      if (through.until() > gap.from) ++waits;
      if (there.until() <= gap.from) continue;
      const Time quiet = quiet_from(gap);
      const Time end = std::min(gap.to, there.until());
      if (quiet < end && end - quiet > patience_) add(finding(gap, *there.waiter, quiet, end));
    }
  }

 private:
  std::vector<Gap> gaps() {
    std::vector<const Hold*> granted;
    Time doubtful = kNever;  // from here on somebody of unknown outcome may hold it for ever
    for (const Hold& hold : key_.holds) {
      if (hold.granted()) {
        granted.push_back(&hold);
      } else if (hold.acquire->complete != nullptr || hold.exited != nullptr) {
        doubtful = std::min(doubtful, hold.acquire->invoke->time);
      }
    }
    std::ranges::sort(granted, {}, [](const Hold* hold) { return hold->acquire->complete->time; });
    std::vector<Gap> gaps;
    Time occupied = Time::min();
    for (std::size_t i = 0; i < granted.size(); ++i) {
      const Time end = resolved_at(*granted[i]);
      occupied = std::max(occupied, end);
      const Operation* const next = i + 1 < granted.size() ? granted[i + 1]->acquire : nullptr;
      const Time to = next != nullptr ? next->complete->time : scene_.locks.end;
      if (occupied != end || end == kNever || end >= to || doubtful < to) continue;
      gaps.push_back({granted[i], end, to, next});
    }
    return gaps;
  }

  [[nodiscard]] Time quiet_from(const Gap& gap) const {
    Time quiet = gap.from;
    for (const FaultRecord& fault : scene_.faults) {
      if (fault.effective && fault.start < gap.to) quiet = std::max(quiet, fault.end);
    }
    return quiet;
  }

  [[nodiscard]] Finding finding(const Gap& gap, const Waiter& waiter, Time quiet, Time end) const {
    Finding finding;
    finding.kind = "lost-wake-up";
    finding.events = {waiter.acquire->invoke->index, gap.before->released()->complete->index};
    if (waiter.acquire->complete != nullptr) finding.events.push_back(waiter.acquire->complete->index);
    finding.because = fmt::format(
        "{}: process {} waited for the lock from {}; it was free from {}{}, and for {} nobody was granted it{}", name_,
        number(waiter.acquire->invoke->process), seconds_text(waiter.from), seconds_text(gap.from),
        quiet > gap.from ? fmt::format(" (the last fault ended at {})", seconds_text(quiet)) : "",
        seconds_text(end - quiet), gap.grant == nullptr ? ", to the end of the history" : "");
    finding.detail = {{"key", name_},
                      {"process", number(waiter.acquire->invoke->process)},
                      {"free_ms", milliseconds(end - quiet)},
                      {"patience_ms", milliseconds(patience_)}};
    return finding;
  }

  const Scene& scene_;
  const std::string& name_;
  const LockKey& key_;
  Time patience_;
  std::vector<Waiter> waiters_;
};

}  // namespace

void WakeUpChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.exposure = "waiters that were there when a hold ended which they had waited through";
  std::uint64_t waits = 0;
  for (const auto& [name, key] : scene.locks.keys) {
    Key(scene, name, key).examine(waits, [&](Finding finding) { add(verdict, std::move(finding)); });
  }
  verdict.exposures = waits;
  verdict.applicable = waits > 0;
}

}  // namespace holdfast
