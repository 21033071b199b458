#include "checkers/lock_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/error.h"

namespace holdfast {

namespace {

const Value* member(const Value& object, const char* field) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::int64_t> integer(const Value& object, const char* field) {
  const Value* const value = member(object, field);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::optional<Time> lease_of(const Value& value) {
  const Value* const lease = member(value, "lease_ms");
  if (lease == nullptr || !lease->is_number() || lease->get<double>() <= 0) return std::nullopt;
  // A hundred years is for ever; more would not fit into the clock.
  const double limited = std::min(lease->get<double>(), 3.2e12);
  return std::chrono::duration_cast<Time>(std::chrono::duration<double, std::milli>(limited));
}

class Builder {
 public:
  explicit Builder(const History& history) : history_(history) { result_.end = history.end(); }

  LockHistory build(const Budget& budget) {
    const auto operations = history_.operations();
    std::size_t next = 0;
    std::uint64_t seen = 0;
    for (const Event& event : history_.events()) {
      if (++seen % 4096 == 0 && budget.stop.stop_requested()) throw Error("the time for checking was over");
      if (event.process == Process::nemesis) continue;
      if (is_note(event.f)) {
        note(event);
      } else if (next < operations.size() && operations[next].invoke == &event) {
        operation(operations[next++]);
      }
    }
    for (auto& [name, key] : result_.keys) {
      for (std::size_t index = 0; index < key.holds.size(); ++index) finish({.key = &key, .index = index});
    }
    return std::move(result_);
  }

 private:
  struct Place {
    LockKey* key = nullptr;
    std::size_t index = 0;
    [[nodiscard]] Hold& hold() const { return key->holds[index]; }
  };
  struct Ends {
    const Event* lost = nullptr;
    const Event* asked_again = nullptr;  // a client that asks for the lock again does not believe to have it
    const Event* renewing = nullptr;
  };

  Ends& ends_of(const Place& place) {
    std::vector<Ends>& ends = ends_[place.key];
    if (ends.size() <= place.index) ends.resize(place.key->holds.size());
    return ends[place.index];
  }

  void operation(const Operation& operation) {
    const std::string& f = operation.invoke->f;
    if (f == "acquire") {
      acquire(operation);
    } else if (f == "release" || f == "read" || f == "write") {
      LockKey& key = result_.keys[operation.invoke->key];
      const std::optional<Place> place = find(*operation.invoke);
      if (!place) {
        key.strays.push_back(&operation);
      } else if (f == "release") {
        place->hold().releases.push_back(&operation);
      } else {
        place->hold().accesses.push_back(&operation);
      }
    }
  }

  void acquire(const Operation& operation) {
    const Event& invoke = *operation.invoke;
    LockKey& key = result_.keys[invoke.key];
    key.attempts.push_back(&operation);
    const auto id = integer(invoke.value, "hold");
    Place& current = current_[{number(invoke.process), invoke.key}];
    if (current.key != nullptr) {
      Ends& ends = ends_of(current);
      if (ends.asked_again == nullptr) ends.asked_again = &invoke;
    }
    if (id) {
      const auto [earlier, fresh] = acquires_.try_emplace(*id, &invoke);
      if (!fresh) {
        throw Error(fmt::format("hold {} is acquired twice (events {} and {}); every acquire needs a fresh hold id",
                                *id, earlier->second->index, invoke.index));
      }
    }
    if (operation.failed()) return;
    Hold hold;
    hold.named = id.has_value();
    hold.id = id ? static_cast<std::uint64_t>(*id) : invoke.index;
    hold.process = invoke.process;
    hold.acquire = &operation;
    hold.lease = lease_of(invoke.value);
    if (operation.ok()) hold.token = integer(operation.complete->value, "token");
    current = {.key = &key, .index = key.holds.size()};
    if (id) by_id_.emplace(*id, current);
    key.holds.push_back(std::move(hold));
  }

  std::optional<Place> find(const Event& event) const {
    if (const auto id = integer(event.value, "hold")) {
      const auto found = by_id_.find(*id);
      if (found == by_id_.end()) return std::nullopt;
      return found->second;
    }
    const auto found = current_.find({number(event.process), event.key});
    if (found == current_.end() || found->second.key == nullptr) return std::nullopt;
    return found->second;
  }

  void note(const Event& event) {
    if (event.f == "exited") {
      result_.exits.try_emplace(number(event.process), &event);
      return;
    }
    if (event.f == "step") {
      result_.last_steps[number(event.process)] = &event;
      return;
    }
    const std::optional<Place> place = find(event);
    if (!place) return;
    Ends& ends = ends_of(*place);
    if (event.f == "lost" && ends.lost == nullptr) ends.lost = &event;
    if (event.f == "renewing") ends.renewing = &event;
    if (event.f == "renewed" && ends.renewing != nullptr) {
      // A watchdog renews one after the other, so the last announcement is the one that was granted.
      Hold& hold = place->hold();
      const Time from = std::max(hold.acquire->invoke->time, ends.renewing->time - kNoteDelay);
      hold.renewals.push_back(
          {.window = {.from = from, .to = event.time}, .renewing = ends.renewing, .renewed = &event});
      ends.renewing = nullptr;
    }
  }

  void finish(const Place& place) {
    Hold& hold = place.hold();
    if (const auto exit = result_.exits.find(number(hold.process)); exit != result_.exits.end()) {
      if (exit->second->index > hold.acquire->invoke->index) hold.exited = exit->second;
    }
    if (!hold.granted()) return;
    hold.believed = {.from = hold.acquire->complete->time, .to = kNever};
    const Ends& ends = ends_of(place);
    const auto end_at = [&](const Event* event) {
      if (event == nullptr) return;
      if (hold.belief_end == nullptr || event->index < hold.belief_end->index) hold.belief_end = event;
    };
    if (!hold.releases.empty()) end_at(hold.releases.front()->invoke);
    end_at(ends.lost);
    end_at(ends.asked_again);
    end_at(hold.exited);
    if (hold.belief_end == nullptr) {
      hold.believed.to = std::max(result_.end, hold.believed.from);
    } else {
      hold.believed.to = std::max(hold.belief_end->time, hold.believed.from);
    }
  }

  const History& history_;
  LockHistory result_;
  std::unordered_map<std::int64_t, Place> by_id_;
  std::unordered_map<std::int64_t, const Event*> acquires_;
  std::map<std::pair<std::int64_t, std::string>, Place> current_;  // the last hold of a process on a key
  std::unordered_map<const LockKey*, std::vector<Ends>> ends_;     // beside LockKey::holds
};

}  // namespace

Time Hold::lease_end() const {
  Time last = acquire->invoke->time;
  for (const Renewal& renewal : renewals) last = std::max(last, renewal.window.from);
  return later_by(last, least_lease());
}

Interval Hold::certain() const {
  if (!granted()) return {};
  Interval interval{.from = acquire->complete->time, .to = lease_end()};
  for (const Operation* release : releases) {
    if (!release->failed()) interval.to = std::min(interval.to, release->invoke->time);
  }
  return interval;
}

const Operation* Hold::released() const {
  const auto found = std::ranges::find_if(releases, [](const Operation* release) { return release->ok(); });
  return found == releases.end() ? nullptr : *found;
}

std::string Hold::describe() const {
  if (named) return fmt::format("process {} (hold {})", number(process), id);
  return fmt::format("process {} (its acquire of event {})", number(process), id);
}

std::vector<std::uint64_t> Hold::events() const {
  std::vector<std::uint64_t> indices = {acquire->invoke->index};
  if (acquire->complete != nullptr) indices.push_back(acquire->complete->index);
  if (!renewals.empty()) {
    indices.push_back(renewals.back().renewing->index);
    indices.push_back(renewals.back().renewed->index);
  }
  for (const Operation* release : releases) {
    indices.push_back(release->invoke->index);
    if (release->complete != nullptr) indices.push_back(release->complete->index);
  }
  if (belief_end != nullptr) indices.push_back(belief_end->index);
  std::ranges::sort(indices);
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

Time LockKey::patience() const {
  std::optional<Time> longest;
  for (const Hold& hold : holds) {
    if (hold.lease) longest = std::max(longest.value_or(Time{}), *hold.lease);
  }
  return longest ? *longest + std::chrono::seconds(1) : Time(std::chrono::seconds(2));
}

LockHistory lock_history(const History& history, const Budget& budget) {
  return Builder(history).build(budget);
}

bool has_error(const Operation& operation, std::string_view error) {
  if (operation.complete == nullptr) return false;
  const Value& value = operation.complete->error;
  const Value* const type = member(value, "type");
  const Value& text = type == nullptr ? value : *type;
  return text.is_string() && text.get_ref<const std::string&>() == error;
}

double milliseconds(Time span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

std::string seconds_text(Time at) {
  return fmt::format("{:.3f} s", std::chrono::duration<double>(at).count());
}

std::string milliseconds_text(Time span) {
  return span < std::chrono::milliseconds(10) ? fmt::format("{:.3g} ms", milliseconds(span))
                                              : fmt::format("{:.0f} ms", milliseconds(span));
}

}  // namespace holdfast
