// Lengths of time as people write them: 500ms, 30s, 2m, 1h; a plain number is seconds, as Jepsen has it.
#pragma once

#include <string>
#include <string_view>

#include "harness/event.h"

namespace holdfast {

// UsageError that names the option and the value when it is no length of time, or a negative one.
Time parse_duration(std::string_view option, std::string_view text);
std::string to_text(Time duration);  // the shortest exact form: "600ms", "30s"

}  // namespace holdfast
