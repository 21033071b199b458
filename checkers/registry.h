// The table of lock checkers: what each property is called, what it says, and who judges it.
//
// The three sides of mutual exclusion (service, clients, resource) are separate rows and are never merged: a lease that
// ran out under a paused holder is correct at the service and unsafe at the clients.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "harness/checker.h"

namespace holdfast {

struct LockCheckOptions {
  bool faults = false;  // a nemesis was at work: a property that no effective fault put to the test is unknown
};

struct CheckerEntry {
  std::string_view name;     // stable: the key in results.json
  std::string_view title;    // the words of the report card
  std::string_view summary;  // one line for `holdfast list`
  std::unique_ptr<Checker> (*make)(const LockCheckOptions& options) = nullptr;
};

std::span<const CheckerEntry> lock_checker_table();
std::string_view checker_title(std::string_view name);  // the name itself when the table does not have it

// One of each, in the order of the table.
std::vector<std::unique_ptr<Checker>> lock_checkers(const LockCheckOptions& options);

}  // namespace holdfast
