#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "checkers/online/register_monitor.h"
#include "checkers/online/watch.h"

namespace holdfast::online {

namespace {

using objects::Call;
using objects::Instant;
using objects::kNothing;

// Values that are neither numbers nor null cannot be watched.
std::optional<std::int64_t> value_of(const Event& event) {
  if (event.value.is_null()) return kNothing;
  if (!event.value.is_number_integer()) return std::nullopt;
  return event.value.get<std::int64_t>();
}

class RegisterWatch final : public Watch {
 public:
  std::optional<Alarm> see(const Event& event) override {
    if (event.process == Process::nemesis || is_note(event.f)) return std::nullopt;
    if (event.type == EventType::invoke) {
      asks(event);
      return std::nullopt;
    }
    const auto asked = open_.find(number(event.process));
    if (asked == open_.end()) return std::nullopt;
    const Request request = asked->second;
    open_.erase(asked);
    return answered(event, request);
  }

 private:
  struct Request {
    std::string key;
    std::uint64_t event = 0;
    bool reads = false;
  };

  void asks(const Event& event) {
    const bool reads = event.f == "read";
    const std::optional<std::int64_t> value = reads ? kNothing : value_of(event);
    RegisterMonitor* const monitor = monitor_of(event.key);
    if (monitor == nullptr) return;
    try {
      if (!value || !(reads || event.f == "write")) throw std::invalid_argument("not to be watched");
      monitor->call(
          event.index,
          {.call = static_cast<Instant>(event.index), .argument = *value, .f = reads ? Call::read : Call::write});
      open_[number(event.process)] = {event.key, event.index, reads};
    } catch (const std::invalid_argument&) {
      give_up(event.key);
    }
  }

  std::optional<Alarm> answered(const Event& event, const Request& request) {
    RegisterMonitor* const monitor = monitor_of(request.key);
    if (monitor == nullptr) return std::nullopt;
    const bool ok = event.type == EventType::ok;
    const std::optional<std::int64_t> seen = ok && request.reads ? value_of(event) : kNothing;
    if (!seen) {
      give_up(request.key);
      return std::nullopt;
    }
    const Returned outcome = ok ? Returned::ok : event.type == EventType::fail ? Returned::fail : Returned::unknown;
    const auto found = monitor->returned(request.event, outcome, *seen, static_cast<Instant>(event.index));
    if (!found) return std::nullopt;
    return Alarm{event.index,
                 fmt::format("{}: {} (asked for at event{} {})", request.key, found->because,
                             found->operations.size() == 1 ? "" : "s", fmt::join(found->operations, ", "))};
  }

  // Null: this register is not watched any more.
  RegisterMonitor* monitor_of(const std::string& key) {
    const auto [place, fresh] = monitors_.try_emplace(key);
    if (fresh) place->second = std::make_unique<RegisterMonitor>(kNothing);
    return place->second.get();
  }
  void give_up(const std::string& key) { monitors_[key].reset(); }

  std::unordered_map<std::string, std::unique_ptr<RegisterMonitor>> monitors_;  // by key
  std::unordered_map<std::int64_t, Request> open_;                              // by process
};

}  // namespace

std::unique_ptr<Watch> watch_registers() {
  return std::make_unique<RegisterWatch>();
}

}  // namespace holdfast::online
