// What every fuzzer and the test that replays their corpus ask of a reader, whatever the bytes are: it ends; it gives a
// history whose every part can be looked at, or one complaint with line and column; and how much of the text it
// sees at a time makes no difference.
#pragma once

#include <string>
#include <string_view>

#include "harness/formats/readers.h"

namespace holdfast::formats {

// The whole result as text: equal texts are equal results.
std::string outcome_of(std::string_view bytes, const ReadOptions& options);
// Ends the program with a message when a reader does not behave.
void survive(std::string_view bytes, ReadOptions options);

}  // namespace holdfast::formats
