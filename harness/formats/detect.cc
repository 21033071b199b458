// Which format a file has, by its content, and the whole way from a path to a history.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {

namespace {

constexpr std::string_view kGzMagic = "\x1F\x8B";
constexpr std::string_view kBlanks = " \t\r\n\f\v,";
constexpr std::size_t kEnough = std::size_t{1} << 16U;  // a log says so within its first lines
constexpr const char* kNothingLeft = "cut short in its first event; nothing is left to judge, fetch the file again";

// Bytes that were looked at already, then the rest.
class Resumed : public ByteSource {
 public:
  Resumed(std::string first, std::unique_ptr<ByteSource> rest) : first_(std::move(first)), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t room) override {
    if (first_.empty()) return rest_->read(to, room);
    const std::size_t count = first_.copy(to, room);
    first_.erase(0, count);
    return count;
  }

 private:
  std::string first_;
  std::unique_ptr<ByteSource> rest_;
};

std::unique_ptr<ByteSource> unpack_if_packed(std::unique_ptr<ByteSource> source) {
  std::string first(kGzMagic.size(), '\0');
  std::size_t have = 0;
  while (have < first.size()) {
    const std::size_t more = source->read(first.data() + have, first.size() - have);
    if (more == 0) break;
    have += more;
  }
  first.resize(have);
  const bool packed = first == kGzMagic;
  auto resumed = std::make_unique<Resumed>(std::move(first), std::move(source));
  if (packed) return unpack_gz(std::move(resumed));
  return resumed;
}

// The rest of a text from its first form on: comments and blanks left behind.
std::string_view from_first_form(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (!text.starts_with(';')) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

bool looks_binary(std::string_view text) {
  const auto odd = std::count_if(text.begin(), text.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < ' ' && kBlanks.find(byte) == std::string_view::npos && byte != '\x1B';
  });
  return text.find('\0') != std::string_view::npos || odd > static_cast<std::ptrdiff_t>(text.size() / 16);
}

[[noreturn]] void unknown_format(std::string_view text, const char* at) {
  if (looks_binary(text)) {
    throw Complaint("a binary file; a history is history.jsonl, Jepsen's EDN or Jepsen's log, plain or packed with gz",
                    at);
  }
  throw Complaint(
      fmt::format(
          "{} begins no history; known are history.jsonl, Jepsen's EDN and Jepsen's log, plain or packed with gz",
          in_quotes(std::string_view(at, static_cast<std::size_t>(text.end() - at)).substr(0, 20))),
      at);
}

RecordedHistory read_all(Window& window, const ReadOptions& options) {
  window.skip_byte_order_mark();
  while (window.rest().empty() && window.grow()) {
  }
  if (window.rest().empty() && !window.cut()) throw Complaint("the file is empty; name a file with a recorded history");
  const Format format = options.format ? *options.format : detect_format(window);
  HistoryBuilder builder(format, options.tuple_keys);
  window.set_event(nullptr);
  switch (format) {
    case Format::jsonl:
      read_jsonl(window, builder);
      break;
    case Format::edn:
      read_edn(window, builder);
      break;
    case Format::jepsen_log:
      read_jepsen_log(window, builder);
      break;
  }
  const bool whole = !window.cut() && !builder.truncated();
  if (!whole && builder.empty()) throw Complaint(kNothingLeft, window.end());
  if (format == Format::jepsen_log && builder.empty())
    throw Complaint("not one operation in this log; is it the log of a Jepsen test?");
  if (!whole) builder.truncate();
  return builder.finish();
}

RecordedHistory read_source(std::unique_ptr<ByteSource> source, const std::string& name, const ReadOptions& options) {
  std::unique_ptr<Window> window;
  try {
    window = std::make_unique<Window>(unpack_if_packed(std::move(source)), options.window);
    return read_all(*window, options);
  } catch (const Complaint& complaint) {
    const Window::Place place = window->place(complaint.at() == nullptr ? window->event() : complaint.at());
    throw UsageError(fmt::format("{} line {} column {}: {}", name, place.line, place.column, complaint.what()));
  }
}

}  // namespace

Format detect_format(Window& window) {
  while (window.rest().size() < kEnough && window.grow()) {
  }
  const std::string_view text = window.rest();
  const std::string_view start = text.substr(0, kEnough);
  const std::string_view form = from_first_form(start);
  if (form.empty()) {
    if (!text.empty() && text.size() > start.size()) return Format::edn;  // a very long comment
    if (window.cut()) throw Complaint(kNothingLeft, window.end());
    throw Complaint("no event in the file, only blanks and comments; name a file with a recorded history");
  }
  if (looks_binary(start)) unknown_format(start, text.data());
  const std::string_view inner = from_first_form(form.substr(1));
  const char next = inner.empty() ? '\0' : inner.front();
  if (form[0] == '{') return next == '"' || inner.empty() ? Format::jsonl : Format::edn;
  const bool log = start.find("jepsen.util") != std::string_view::npos;
  if (form[0] == '[' || form[0] == '(') {
    const std::string_view second = next == '{' ? from_first_form(inner.substr(1)) : std::string_view();
    if (form[0] == '[' && second.starts_with('"')) {
      throw Complaint("a JSON array; a history has one event per line: jq -c '.[]' turns one into the other",
                      form.data());
    }
    const bool edn = next == '{' || next == '#' || next == ']' || next == ')' || next == '\0';
    if (edn || !log) return Format::edn;
  }
  if (form[0] == '#') return Format::edn;
  if (log) return Format::jepsen_log;
  unknown_format(start, form.data());
}

RecordedHistory read_recorded(const std::filesystem::path& file, const ReadOptions& options) {
  return read_source(open_file(file), file.string(), options);
}

RecordedHistory read_recorded_text(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  return read_source(from_memory(bytes), name, options);
}

}  // namespace holdfast::formats
