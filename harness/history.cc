#include "harness/history.h"

#include <fmt/format.h>

#include <fstream>
#include <unordered_map>

#include "harness/error.h"

namespace holdfast {

History::History(std::vector<Event> events) : events_(std::make_unique<std::vector<Event>>(std::move(events))) {
  std::unordered_map<std::int64_t, std::size_t> open;  // process -> position in operations_
  const Event* previous = nullptr;
  for (const Event& event : *events_) {
    if (previous != nullptr && event.time < previous->time) {
      throw Error(
          fmt::format("event {} happened before event {}, which stands before it", event.index, previous->index));
    }
    if (previous != nullptr && event.index <= previous->index) {
      throw Error(fmt::format("event {} follows event {}: indices must grow", event.index, previous->index));
    }
    previous = &event;
    if (event.process == Process::nemesis || is_note(event.f)) continue;
    const auto found = open.find(number(event.process));
    if (event.type == EventType::invoke) {
      if (found != open.end()) {
        throw Error(fmt::format("event {}: process {} invokes {} while its {} (event {}) is still open", event.index,
                                number(event.process), event.f, operations_[found->second].invoke->f,
                                operations_[found->second].invoke->index));
      }
      open.emplace(number(event.process), operations_.size());
      operations_.push_back({&event, nullptr});
      continue;
    }
    if (found == open.end() || operations_[found->second].invoke->f != event.f) {
      throw Error(fmt::format("event {}: process {} completes {}, which it has not invoked", event.index,
                              number(event.process), event.f));
    }
    operations_[found->second].complete = &event;
    open.erase(found);
  }
}

namespace {

// Whether this is the beginning of an event whose writer was stopped. A file of something else that happens to have no
// newline at its end is not a history, and must not pass for an empty one.
bool is_cut_short(const std::string& line) {
  if (line.front() != '{') return false;
  try {
    [[maybe_unused]] const Value whole = Value::parse(line);
    return false;
  } catch (const Value::parse_error& error) {
    return error.byte >= line.size();
  } catch (const Value::exception&) {
    return false;
  }
}

}  // namespace

HistoryFile read_history(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (std::filesystem::is_directory(file)) {
    throw UsageError(
        fmt::format("cannot read history {}: it is a folder; name the history.jsonl in it", file.string()));
  }
  if (!in) throw UsageError(fmt::format("cannot read history {}: no such file, or no permission", file.string()));
  std::vector<Event> events;
  bool truncated = false;
  std::string line;
  EventParser parser;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const bool cut = in.eof();  // no newline at the end: the writer was stopped in the middle of it
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      events.push_back(parser.parse(line));
    } catch (const Error& error) {
      if (cut && is_cut_short(line)) {
        truncated = true;
        break;
      }
      throw UsageError(
          fmt::format("{}:{}: {}; a history is one JSON event per line", file.string(), number, error.what()));
    }
  }
  if (in.bad()) throw UsageError(fmt::format("cannot read history {}: the disk failed", file.string()));
  try {
    return {.history = History(std::move(events)), .truncated = truncated};
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}; this is not a history that can be judged", file.string(), error.what()));
  }
}

}  // namespace holdfast
