// Pieces that the pages of results/ share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/results.h"

namespace holdfast {

std::string mark_span(Mark mark);                                         // <span class="mark held">held</span>
std::string command_line(std::string_view label, std::string_view text);  // with a button that copies it
// The sentence with "event 913" made a link to that event, where it is one of the finding's.
std::string linked_sentence(std::string_view sentence, const std::vector<std::uint64_t>& events);

}  // namespace holdfast
