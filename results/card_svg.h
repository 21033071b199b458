// A picture of a report card: the coloured text of card.h as one self-contained SVG, for READMEs and issues.
// The text stays text: it can be selected, searched and read aloud.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// `text` with the escape sequences of CardStyle::colour; `command` is shown as what was typed, empty: nothing.
std::string card_to_svg(std::string_view text, std::string_view command);

}  // namespace holdfast
