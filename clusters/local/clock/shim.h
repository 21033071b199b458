// Inside the shim: the node's clocks as its processes see them, in nanoseconds.
//
// The shim is a library that the dynamic linker loads before all others into each process of a local node. It answers
// for the C library's functions that tell the time or wait for one. It allocates nothing, takes no lock and needs no
// library but the C library, because it runs inside memory allocators, signal handlers and forked children.
#pragma once

#include <cstdint>
#include <ctime>

namespace holdfast::clock_shim {

inline constexpr std::int64_t kSecond = 1'000'000'000;

inline std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond + time.tv_nsec;
}
timespec to_timespec(std::int64_t nanoseconds);

std::int64_t true_now(clockid_t clock);
std::int64_t node_now(clockid_t clock);

// Whether a wait for a time on this clock must be turned into one on the true clock.
bool governed(clockid_t clock);
// How long it truly takes from now until the node's clock shows `deadline`, if nobody changes it meanwhile.
std::int64_t true_time_until(clockid_t clock, const timespec& deadline);

}  // namespace holdfast::clock_shim
