#include "results/holds.h"

#include <optional>
#include <unordered_map>

namespace holdfast {
namespace {

std::optional<std::uint64_t> hold_of(const Event& event) {
  if (!event.value.is_object()) return std::nullopt;
  const auto found = event.value.find("hold");
  if (found == event.value.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool ends_belief(const Event& event) {
  return (event.f == "release" && event.type == EventType::invoke) || event.f == "lost" || event.f == "exited";
}

struct Open {
  std::size_t position;               // in the list of holds
  std::optional<std::uint64_t> hold;  // its id, when the history has ids
};

}  // namespace

std::vector<BelievedHold> believed_holds(const History& history) {
  std::vector<BelievedHold> holds;
  std::unordered_map<std::int64_t, std::vector<Open>> open;                  // by process
  std::unordered_map<std::int64_t, std::optional<std::uint64_t>> acquiring;  // the id of the acquire under way
  for (const Event& event : history.events()) {
    if (event.process == Process::nemesis) continue;
    const std::int64_t process = number(event.process);
    if (event.f == "acquire" && event.type == EventType::invoke) acquiring[process] = hold_of(event);
    if (event.f == "acquire" && event.type == EventType::ok) {
      open[process].push_back({holds.size(), acquiring[process]});
      holds.push_back({.acquired = &event, .ended = nullptr, .start = event.time, .end = history.end()});
    }
    if (!ends_belief(event)) continue;
    const auto named = event.f == "exited" ? std::nullopt : hold_of(event);
    std::erase_if(open[process], [&](const Open& each) {
      const BelievedHold& hold = holds[each.position];
      const bool meant =
          event.f == "exited" || (named && each.hold ? named == each.hold : hold.acquired->key == event.key);
      if (meant) {
        holds[each.position].ended = &event;
        holds[each.position].end = event.time;
      }
      return meant;
    });
  }
  return holds;
}

}  // namespace holdfast
