#include "results/html.h"

#include "results/assets.h"

namespace holdfast {

std::string html_escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string json_for_script(const Value& value) {
  const std::string json = value.dump(-1, ' ', false, Value::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string fill(std::string_view pattern, const std::map<std::string, std::string, std::less<>>& replacements) {
  std::string text;
  while (true) {
    const std::size_t open = pattern.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : pattern.find("}}", open);
    if (close == std::string_view::npos) return text.append(pattern);
    text += pattern.substr(0, open);
    const auto found = replacements.find(pattern.substr(open + 2, close - open - 2));
    text += found == replacements.end() ? pattern.substr(open, close + 2 - open) : std::string_view(found->second);
    pattern.remove_prefix(close + 2);
  }
}

std::string html_page(const Page& page) {
  std::string data;
  if (!page.data.empty()) data = R"(<script type="application/json" id="data">)" + page.data + "</script>";
  std::string script;
  if (page.script) script = "<script>\n" + std::string(kReportScript) + "</script>";
  return fill(kReportPage, {{"title", html_escape(page.title)},
                            {"style", std::string(kReportStyle)},
                            {"body", page.body},
                            {"data", std::move(data)},
                            {"script", std::move(script)}});
}

}  // namespace holdfast
