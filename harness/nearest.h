// What a user probably meant, for the error message about a name that is in no table.
//
//   throw UsageError(fmt::format("unknown system \"{}\"; {} (holdfast list shows all)", name, did_you_mean(name,
//   names)));
//
// The answer is never empty: where no name is near, it tells all of them, so that the message always has a way out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

// Letters to insert, delete, replace or swap with their neighbour; upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b);

// "did you mean redis-setpx-lua?", "did you mean pause or parse?", or "known are pause, kill and partition".
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

}  // namespace holdfast
