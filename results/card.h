// The report card as text, for a terminal or a log. At most `width` columns; every verdict is a word first and a colour
// second, so that it reads the same in black and white.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "results/audit.h"
#include "results/results.h"
#include "results/store.h"

namespace holdfast {

struct CardStyle {
  bool colour = false;
  std::size_t width = 100;  // smaller is honoured down to 72
};
// Colour on a terminal only, and never when NO_COLOR is set; the terminal's width, but at most 100.
CardStyle card_style_for(int descriptor);

// `folder` as it is to be printed: "store/redis-setpx-lua-lock-pause/20261118T055606.123".
std::string run_card(const RunInfo& info, const RunResults& results, const std::filesystem::path& folder,
                     const CardStyle& style);
// `page` is the audit.html that belongs to it; empty: none.
std::string audit_card(const Audit& audit, const std::filesystem::path& page, const CardStyle& style);

}  // namespace holdfast
