#include "nemesis/registry.h"

#include <fmt/format.h>

#include <array>

#include "harness/error.h"
#include "harness/nearest.h"
#include "nemesis/clock.h"
#include "nemesis/clock_drift.h"
#include "nemesis/clock_strobe.h"
#include "nemesis/disk.h"
#include "nemesis/kill.h"
#include "nemesis/links.h"
#include "nemesis/partition.h"
#include "nemesis/pause.h"
#include "nemesis/shaping.h"

namespace holdfast {

namespace {

using When = FaultPlan::When;

std::vector<FaultTarget> clock_targets() {
  return {{"server", "a primary", When::at_times, false},
          {"holder", "the client that holds the lock", When::acquired, true}};
}

const std::array kFaults = {
    FaultEntry{.name = "pause",
               .summary = "stop a process and all its children (SIGSTOP), past the lease, then let it go on",
               .targets = {{"holder", "the client that holds the lock", When::reading, true},
                           {"server", "a primary", When::at_times, false}},
               .make = make_pause},
    FaultEntry{.name = "kill",
               .summary = "end a process at once (SIGKILL), then start it again",
               .targets = {{"holder", "the client that holds the lock", When::acquired, true},
                           {"server", "a primary", When::acknowledged, false}},
               .make = make_kill},
    FaultEntry{.name = "partition",
               .summary = "drop what goes from some nodes to others, all at once",
               .targets = link_targets(),
               .make = make_partition,
               .takes_links = true},
    FaultEntry{.name = "flapping",
               .summary = "cut links and mend them again and again, ten times a second (/100ms)",
               .targets = link_targets(),
               .make = make_flapping,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "delay",
               .summary = "hold back what goes over some links (/100ms~20ms, and ,normal or ,tail; local nodes)",
               .targets = link_targets(),
               .make = make_delay,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "loss",
               .summary = "lose some of what goes over some links (/30%; local nodes)",
               .targets = link_targets(),
               .make = make_loss,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "duplicate",
               .summary = "deliver some of what goes over some links twice (/30%; local nodes)",
               .targets = link_targets(),
               .make = make_duplicate,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "reorder",
               .summary = "let some packets be overtaken by later ones (/25%,10ms; local nodes)",
               .targets = link_targets(),
               .make = make_reorder,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{
        .name = "corrupt",
        .summary = "change a byte of some packets, seen by the checksum or not (/20% or /20%,unseen; local nodes)",
        .targets = link_targets(),
        .make = make_corrupt,
        .takes_links = true,
        .takes_parameters = true},
    FaultEntry{.name = "rate",
               .summary = "make some links narrow (/64kbit; local nodes)",
               .targets = link_targets(),
               .make = make_rate,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "reset",
               .summary = "end the connections that there are over some links (TCP reset; local nodes)",
               .targets = link_targets(),
               .make = make_reset,
               .takes_links = true,
               .takes_parameters = true},
    FaultEntry{.name = "clock",
               .summary = "set a wall clock forward by a minute, past every lease, then right again",
               .targets = clock_targets(),
               .make = make_clock},
    FaultEntry{.name = "clock-back",
               .summary = "set a wall clock back by a minute, then right again",
               .targets = clock_targets(),
               .make = make_clock_back},
    FaultEntry{.name = "clock-drift",
               .summary = "let a wall clock run twice as fast, then set it right (local nodes)",
               .targets = clock_targets(),
               .make = make_clock_drift},
    FaultEntry{.name = "clock-rate",
               .summary = "let all of a node's time run twice as fast, its monotonic clock, too (local nodes)",
               .targets = clock_targets(),
               .make = make_clock_rate},
    FaultEntry{.name = "clock-strobe",
               .summary = "throw a wall clock a minute to and fro, a hundred times a second (local nodes)",
               .targets = clock_targets(),
               .make = make_clock_strobe},
    FaultEntry{.name = "disk-power",
               .summary = "power loss: what was not synced is gone, the server starts anew (local nodes, root)",
               .targets = {{"server", "a primary", When::acknowledged, false}},
               .make = make_disk_power},
    FaultEntry{.name = "disk-full",
               .summary = "not a block is left on a server's disk (local nodes, root)",
               .targets = {{"server", "a primary", When::at_times, false}},
               .make = make_disk_full},
    FaultEntry{.name = "disk-read-only",
               .summary = "the kernel makes a server's disk read-only after an error (local nodes, root)",
               .targets = {{"server", "a primary", When::at_times, false}},
               .make = make_disk_read_only},
    FaultEntry{.name = "disk-dead",
               .summary = "every operation on a server's disk fails (local nodes, root)",
               .targets = {{"server", "a primary", When::at_times, false}},
               .make = make_disk_dead},
    FaultEntry{.name = "disk-slow",
               .summary = "a server's disk does 50 writes a second (local nodes, root, blkio control group)",
               .targets = {{"server", "a primary", When::at_times, false}},
               .make = make_disk_slow},
};

}  // namespace

std::span<const FaultEntry> faults() {
  return kFaults;
}

const FaultEntry& find_fault(std::string_view name) {
  std::vector<std::string_view> names;
  for (const FaultEntry& entry : kFaults) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown fault \"{}\"; {} (holdfast list shows all)", name, did_you_mean(name, names)));
}

}  // namespace holdfast
