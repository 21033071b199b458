// What the controller and every process of a local node share: how far the node's clocks are off, and who has seen it.
//
// A file of zeros is a page of honest clocks. The controller alone writes `sequence` and the two shifts, as a seqlock:
// odd while it writes. Each process writes its own slot and nothing else. Included by the shim, so: no library calls.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace holdfast::clock_page {

inline constexpr const char* kFile = "/run/holdfast-clock";   // on the node
inline constexpr const char* kShim = "libholdfast-clock.so";  // in the folder of Holdfast's programs
inline constexpr std::size_t kSlots = 1024;
inline constexpr int kRateBits = 32;

// At true time t a clock is ahead by shift + (t - anchor) * rate / 2^kRateBits nanoseconds. Both clocks are anchored
// in their own time, so that one reading of the true clock is enough.
struct Shift {
  std::atomic<std::int64_t> anchor;
  std::atomic<std::int64_t> shift;
  std::atomic<std::int64_t> rate;
};

// What a process was last told, refreshed at its first reading after a change and then every few milliseconds.
struct Reading {
  std::atomic<std::uint32_t> sequence;  // of the page when it read: proof that it has seen this very setting
  std::atomic<std::uint32_t> changes;   // how many settings it has seen
  std::atomic<std::int64_t> at;         // true time, nanoseconds
  std::atomic<std::int64_t> ahead;      // what it was told, less `at`
};

// The slot of process p is p modulo kSlots. Processes that share one overwrite each other; each says who it is.
struct alignas(64) Slot {
  std::atomic<std::uint32_t> process;
  std::atomic<std::uint32_t> group;  // of processes: what the controller knows a server or a client by
  Reading wall;
  Reading monotonic;
};

struct Page {
  std::atomic<std::uint32_t> sequence;
  Shift wall;
  Shift monotonic;
  std::array<Slot, kSlots> slots;
};

inline std::int64_t ahead_at(std::int64_t time, std::int64_t anchor, std::int64_t shift, std::int64_t rate) {
  __extension__ using Wide = __int128;
  return shift + static_cast<std::int64_t>((static_cast<Wide>(time - anchor) * rate) >> kRateBits);
}

}  // namespace holdfast::clock_page
