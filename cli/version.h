#pragma once

namespace holdfast {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace holdfast
