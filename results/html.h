// Making HTML safely: escaping, templates, and the assets compiled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/event.h"

namespace holdfast {

std::string html_escape(std::string_view text);   // for text and for quoted attributes
std::string json_for_script(const Value& value);  // '<' as \u003c: "</script>" must not end the script element

// Replaces each {{name}} once, from left to right: a replacement that itself holds "{{x}}" stays as it is.
std::string fill(std::string_view pattern, const std::map<std::string, std::string, std::less<>>& replacements);

struct Page {
  std::string title;
  std::string body;
  std::string data;     // JSON from json_for_script(); empty: none
  bool script = false;  // with report.js
};
std::string html_page(const Page& page);

}  // namespace holdfast
