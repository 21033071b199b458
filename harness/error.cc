#include "harness/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace holdfast {

Error system_error(const std::string& action) {
  return Error(action + ": " + std::error_code(errno, std::generic_category()).message());
}

void check_failed(const char* condition, const char* file, int line, const char* why) {
  std::fprintf(stderr, "holdfast: %s:%d: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace holdfast
