// The files of results/assets as constants; results/embed.cmake writes the definitions at build time.
#pragma once

#include <string_view>

namespace holdfast {

extern const std::string_view kReportPage;    // report.html
extern const std::string_view kReportStyle;   // report.css
extern const std::string_view kReportScript;  // report.js

}  // namespace holdfast
