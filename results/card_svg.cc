#include "results/card_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "results/html.h"
#include "results/text.h"

namespace holdfast {
namespace {

constexpr double kColumn = 8.43;  // of the 14 px monospace faces that the picture asks for
constexpr double kLine = 20;
constexpr double kSide = 22;
constexpr double kTop = 46;  // the window's title bar

std::string_view style_of(std::string_view codes) {
  if (codes == "1") return "s";
  if (codes == "2") return "q";
  if (codes == "32") return "g";
  if (codes == "1;31") return "r";
  if (codes == "33") return "y";
  return "";
}

struct Run {
  std::string_view style;
  std::size_t column = 0;
  std::string text;
};

std::vector<Run> runs_of(std::string_view line) {
  std::vector<Run> runs(1);
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line.substr(at).starts_with("\x1b[")) {
      const std::size_t end = std::min(line.find('m', at), line.size());
      runs.push_back({.style = style_of(line.substr(at + 2, end - at - 2)), .column = column, .text = ""});
      at = end + 1;
      continue;
    }
    runs.back().text += line[at];
    column += display_width(line.substr(at, 1));
    ++at;
  }
  return runs;
}

// A run is pinned to its column and its length, so that columns stay aligned in whatever face the reader has.
std::string text_element(const Run& run, double y) {
  const std::size_t first = run.text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  const std::string text = run.text.substr(first, run.text.find_last_not_of(' ') - first + 1);
  const double x = kSide + kColumn * static_cast<double>(run.column + first);
  return fmt::format("<text{} x=\"{:.1f}\" y=\"{:.0f}\" textLength=\"{:.1f}\">{}</text>\n",
                     run.style.empty() ? "" : fmt::format(" class=\"{}\"", run.style), x, y,
                     kColumn * static_cast<double>(display_width(text)), html_escape(text));
}

}  // namespace

std::string card_to_svg(std::string_view text, std::string_view command) {
  std::vector<std::string> lines;
  if (!command.empty()) lines = {fmt::format("\x1b[2m$\x1b[0m \x1b[1m{}\x1b[0m", command), ""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::size_t columns = 0;
  std::string body;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    columns = std::max(columns, display_width(lines[i]));
    for (const Run& run : runs_of(lines[i])) body += text_element(run, kTop + kLine * static_cast<double>(i) + 15);
  }
  const double width = kSide * 2 + kColumn * static_cast<double>(columns);
  const double height = kTop + kLine * static_cast<double>(lines.size()) + 18;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "<style>text{{font:14px ui-monospace,SFMono-Regular,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;fill:#e6e9ed;"
      "white-space:pre}}.s{{font-weight:700}}.q{{fill:#9aa5b1}}.g{{fill:#6fdc8c}}.r{{fill:#ff8b87;font-weight:700}}"
      ".y{{fill:#f0c264}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#171b21\"/>\n"
      "<circle cx=\"24\" cy=\"22\" r=\"6\" fill=\"#4a525c\"/><circle cx=\"44\" cy=\"22\" r=\"6\" fill=\"#4a525c\"/>"
      "<circle cx=\"64\" cy=\"22\" r=\"6\" fill=\"#4a525c\"/>\n{2}</svg>\n",
      width, height, body);
}

}  // namespace holdfast
