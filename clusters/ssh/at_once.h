// Does several things at the same time, one thread each, and waits for all of them.
#pragma once

#include <functional>
#include <span>

namespace holdfast {

// When some fail: one Error with a line for each, after all have ended. A UsageError when all failures are.
void do_at_once(std::span<const std::function<void()>> jobs);

}  // namespace holdfast
