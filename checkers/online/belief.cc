#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "checkers/online/watch.h"

namespace holdfast::online {

namespace {

std::optional<std::int64_t> hold_of(const Event& event) {
  if (!event.value.is_object()) return std::nullopt;
  const auto found = event.value.find("hold");
  if (found == event.value.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

class BeliefWatch final : public Watch {
 public:
  std::optional<Alarm> see(const Event& event) override {
    // Two who believe at one instant only do not overlap: one may have ended right then. It takes a later event to
    // know.
    if (!suspected_.empty() && event.time > suspected_.front().since) return alarm(event);
    if (event.process == Process::nemesis) return std::nullopt;
    if (is_note(event.f)) {
      note(event);
    } else if (event.f == "acquire") {
      event.type == EventType::invoke ? asks(event) : answered(event);
    } else if (event.f == "release" && event.type == EventType::invoke) {
      end(event);
    }
    return std::nullopt;
  }

 private:
  struct Belief {
    std::int64_t process = 0;
    std::optional<std::int64_t> hold;
    Time since{};
    std::uint64_t event = 0;
  };
  struct Overlap {
    std::string key;
    Belief earlier;
    Belief later;
    Time since{};
  };

  void asks(const Event& event) {
    end_where(event.key, [&](const Belief& belief) { return belief.process == number(event.process); });
    asked_[number(event.process)] = hold_of(event);
  }

  void answered(const Event& event) {
    if (event.type != EventType::ok || exited_.contains(number(event.process))) return;
    std::vector<Belief>& beliefs = beliefs_[event.key];
    const Belief fresh{number(event.process), asked_[number(event.process)], event.time, event.index};
    beliefs.push_back(fresh);
    suspect(event.key, event.time);
  }

  void note(const Event& event) {
    if (event.f == "lost") end(event);
    if (event.f != "exited") return;
    exited_.insert(number(event.process));
    for (auto& [key, beliefs] : beliefs_) {
      end_where(key, [&](const Belief& belief) { return belief.process == number(event.process); });
    }
  }

  // A release or `lost`: of the hold it names, else of its process.
  void end(const Event& event) {
    const std::optional<std::int64_t> hold = hold_of(event);
    end_where(event.key, [&](const Belief& belief) {
      return hold ? belief.hold == hold : belief.process == number(event.process);
    });
  }

  template <typename Which>
  void end_where(const std::string& key, const Which& which) {
    const auto found = beliefs_.find(key);
    if (found == beliefs_.end()) return;
    std::erase_if(found->second, which);
    suspect(key, found->second.empty() ? Time{} : found->second.back().since);
  }

  // Those who believe in this lock at the present instant, `now`, if they are two: nothing has happened after it yet.
  void suspect(const std::string& key, Time now) {
    std::erase_if(suspected_, [&](const Overlap& overlap) { return overlap.key == key; });
    const std::vector<Belief>& beliefs = beliefs_[key];
    if (beliefs.size() >= 2) suspected_.push_back({key, beliefs[0], beliefs[1], now});
  }

  [[nodiscard]] Alarm alarm(const Event& event) const {
    const Overlap& overlap = suspected_.front();
    const auto name = [](const Belief& belief) {
      return belief.hold ? fmt::format("process {} (hold {})", belief.process, *belief.hold)
                         : fmt::format("process {}", belief.process);
    };
    return {event.index,
            fmt::format("{}: {} was granted the lock (event {}) while {} believed to hold it (event {})", overlap.key,
                        name(overlap.later), overlap.later.event, name(overlap.earlier), overlap.earlier.event)};
  }

  std::unordered_map<std::string, std::vector<Belief>> beliefs_;         // by key
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> asked_;  // by process: the hold it asked for last
  std::unordered_set<std::int64_t> exited_;
  std::vector<Overlap> suspected_;  // at the instant of the last event; at most one per key
};

}  // namespace

std::unique_ptr<Watch> watch_belief() {
  return std::make_unique<BeliefWatch>();
}

}  // namespace holdfast::online
