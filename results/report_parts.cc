#include "results/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "results/html.h"

namespace holdfast {

std::string mark_span(Mark mark) {
  static constexpr std::array<std::string_view, 5> kClasses = {"held", "broken", "untested", "undecided", "na"};
  return fmt::format("<span class=\"mark {}\">{}</span>", kClasses.at(static_cast<std::size_t>(mark)), to_string(mark));
}

std::string command_line(std::string_view label, std::string_view text) {
  const std::string safe = html_escape(text);
  return fmt::format(
      "<div class=\"command\"><span>{0}</span><code>{1}</code><button type=\"button\" data-copy=\"{1}\" "
      "hidden>Copy</button></div>",
      label, safe);
}

std::string linked_sentence(std::string_view sentence, const std::vector<std::uint64_t>& events) {
  constexpr std::string_view kWord = "event ";
  std::string html;
  while (true) {
    const std::size_t at = sentence.find(kWord);
    if (at == std::string_view::npos) return html + html_escape(sentence);
    html += html_escape(sentence.substr(0, at));
    sentence.remove_prefix(at);
    const std::string_view digits = sentence.substr(kWord.size());
    std::uint64_t index = 0;
    const char* const end = std::from_chars(digits.data(), digits.data() + digits.size(), index).ptr;
    const auto length = static_cast<std::size_t>(end - digits.data());
    const bool known = length > 0 && std::find(events.begin(), events.end(), index) != events.end();
    const std::string_view text = sentence.substr(0, kWord.size() + length);
    html += known ? fmt::format("<a href=\"#e={}\">{}</a>", index, text) : html_escape(text);
    sentence.remove_prefix(text.size());
  }
}

}  // namespace holdfast
