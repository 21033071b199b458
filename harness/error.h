// The two ways in which Holdfast gives up, and one way in which it must never.
//
// Operation outcomes and verdicts are data, never exceptions. `Error` is for infrastructure (a node that
// does not start, a file that cannot be written): it ends the run as *crashed*, exit 255. `UsageError` is for
// what the user typed or handed in: one line that names the thing, the value and the fix, exit 254.
#pragma once

#include <stdexcept>
#include <string>

namespace holdfast {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class UsageError : public Error {
 public:
  using Error::Error;
};

// "write /x: No space left on device"; reads errno at the moment of the call.
[[nodiscard]] Error system_error(const std::string& action);

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* why);

}  // namespace holdfast

// A broken invariant of ours. On in every build: the history is already on disk, so stopping loses nothing.
#define HOLDFAST_CHECK(condition, why) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::holdfast::check_failed(#condition, __FILE__, __LINE__, why))
