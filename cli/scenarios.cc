#include "cli/scenarios.h"

#include <algorithm>
#include <array>

namespace holdfast {

namespace {

using std::chrono::milliseconds;

const std::array kScenarios = {
    Scenario{.id = "L01",
             .system = "redis-setnx",
             .summary = "the holder is killed; without a lease nobody ever gets the lock again",
             .faults = {"kill:holder@acquired"},
             .expected = {{"service", "held"}, {"clients", "held"}, {"deadlock-freedom", "BROKEN"}}},
    Scenario{.id = "L02",
             .system = "redis-setnx-expire",
             .summary = "the client is killed between SETNX and EXPIRE; the lock has no lease yet",
             .faults = {"kill:holder@step:setnx-done"},
             .expected = {{"service", "held"}, {"deadlock-freedom", "BROKEN"}}},
    Scenario{.id = "L03",
             .system = "redis-setpx-del",
             .summary = "the holder is paused past its lease, then frees the next holder's lock by a plain DEL",
             .faults = {"pause:holder@reading"},
             .expected = {{"clients", "BROKEN"}, {"ownership", "BROKEN"}}},
    Scenario{.id = "L04",
             .system = "redis-setpx-getdel",
             .summary = "the holder is paused between GET and DEL past its lease, then frees the next holder's lock",
             .faults = {"pause:holder@step:get-done"},
             .expected = {{"ownership", "BROKEN"}}},
    Scenario{.id = "L05",
             .system = "redis-setpx-lua",
             .summary = "the holder is paused past its lease: two clients believe that they hold the lock",
             .faults = {"pause:holder@reading"},
             .expected = {{"service", "held"}, {"clients", "BROKEN"}, {"resource", "BROKEN"}, {"ownership", "held"}}},
    Scenario{.id = "L06",
             .system = "redis-setpx-lua-watchdog",
             .summary = "work longer than the lease is fine while the watchdog renews; a pause stops the watchdog too",
             .faults = {"pause:holder@reading"},
             .expected = {{"service", "held"}, {"clients", "BROKEN"}},
             .lease = milliseconds(300),
             .hold = milliseconds(400)},
    Scenario{.id = "L07",
             .system = "redis-setpx-lua-fenced",
             .summary = "the same pause, but the resource refuses the old holder's fencing token",
             .faults = {"pause:holder@reading"},
             .expected = {{"service", "held"},
                          {"clients", "BROKEN"},
                          {"resource", "held"},
                          {"ownership", "held"},
                          {"token-order", "held"}}},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

const Scenario* find_scenario(std::string_view id) {
  const auto* const found =
      std::find_if(kScenarios.begin(), kScenarios.end(), [&](const Scenario& row) { return row.id == id; });
  return found == kScenarios.end() ? nullptr : found;
}

}  // namespace holdfast
