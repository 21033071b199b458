// History: what every client saw, in the order in which the controller saw it. Immutable once made.
//
// Pairing: an invoke opens an operation of its process; the next ok, fail or info of the same process and f closes
// it. An operation that the run never closed, or that closed with info, has an unknown outcome for ever.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/event.h"

namespace holdfast {

struct Operation {
  const Event* invoke = nullptr;
  const Event* complete = nullptr;  // null: the history ends before it

  [[nodiscard]] bool ok() const { return complete != nullptr && complete->type == EventType::ok; }
  [[nodiscard]] bool failed() const { return complete != nullptr && complete->type == EventType::fail; }
  [[nodiscard]] bool unknown() const { return !ok() && !failed(); }
};

class History {
 public:
  // Throws Error when a completion has no invocation, a process has two open operations, or time runs backwards.
  explicit History(std::vector<Event> events);
  History(History&&) noexcept = default;
  History& operator=(History&&) noexcept = default;
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History() = default;

  [[nodiscard]] std::span<const Event> events() const { return *events_; }
  [[nodiscard]] std::span<const Operation> operations() const { return operations_; }  // by invocation
  [[nodiscard]] Time end() const { return events_->empty() ? Time{} : events_->back().time; }

 private:
  std::unique_ptr<std::vector<Event>> events_;  // stable addresses: operations point into it
  std::vector<Operation> operations_;
};

struct HistoryFile {
  History history;
  bool truncated = false;  // the last line was cut short (a killed controller) and left out
};

// Reads history.jsonl. A cut last line is tolerated and reported; any other bad line is a UsageError that names
// file, line and column.
HistoryFile read_history(const std::filesystem::path& file);

}  // namespace holdfast
