#include "checkers/online/watch.h"

#include <array>

namespace holdfast::online {

namespace {

struct Entry {
  std::string_view workload;
  std::unique_ptr<Watch> (*make)();
};

constexpr std::array kTable = {
    Entry{"lock", watch_belief},
    Entry{"register", watch_registers},
};

}  // namespace

std::unique_ptr<Watch> watch_for(std::string_view workload) {
  for (const Entry& entry : kTable) {
    if (entry.workload == workload) return entry.make();
  }
  return nullptr;
}

}  // namespace holdfast::online
