// The kernel's own clock_gettime, found without the help of the dynamic linker.
#pragma once

#include <ctime>

namespace holdfast::clock_shim {

using ClockGetTime = int (*)(clockid_t, timespec*);

// Null when the kernel maps no vDSO. Allocates nothing and calls nothing that could: a memory allocator may be the
// one that asks for the time.
ClockGetTime find_clock_gettime();

}  // namespace holdfast::clock_shim
