#include "harness/formats/fuzz/survive.h"

#include <fmt/format.h>

#include "harness/error.h"

namespace holdfast::formats {

namespace {

constexpr std::size_t kSmallWindow = 16;

std::string print(const RecordedHistory& history) {
  std::string out = fmt::format("{} events, {} operations, {} kept out, {} ignored, truncated {}, timed {} {}\n",
                                history.size(), history.operations, history.kept_out, history.ignored_lines,
                                history.truncated, history.timed, history.time_ordered);
  for (std::size_t at = 0; at < history.size(); ++at) {
    const RecordedEvent& event = history[at];
    HOLDFAST_CHECK(history.equal(event.value, event.value), "a value is equal to itself");
    out += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", history.ordinal(at), to_string(event.type), event.process,
                       history.text(event.f), history.text(event.key), history.describe(event.value), event.hold,
                       event.time, history.text(event.error), event.note);
  }
  std::size_t operations = 0;
  for_each_operation(history, [&](const RecordedEvent& invoke, const RecordedEvent* completion) {
    HOLDFAST_CHECK(completion == nullptr || completion->process == invoke.process, "an operation has one process");
    ++operations;
  });
  HOLDFAST_CHECK(operations == history.operations, "each invocation is one operation");
  return out;
}

}  // namespace

std::string outcome_of(std::string_view bytes, const ReadOptions& options) {
  try {
    return print(read_recorded_text(bytes, "FILE", options));
  } catch (const UsageError& error) {
    const std::string what = error.what();
    HOLDFAST_CHECK(what.starts_with("FILE line ") && what.find(" column ") != std::string::npos, what.c_str());
    HOLDFAST_CHECK(what.find('\n') == std::string::npos, "a complaint is one line");
    return what;
  }
}

void survive(std::string_view bytes, ReadOptions options) {
  options.window = std::size_t{1} << 16U;
  const std::string whole = outcome_of(bytes, options);
  options.window = kSmallWindow;
  const std::string pieces = outcome_of(bytes, options);
  HOLDFAST_CHECK(whole == pieces, fmt::format("\n{}\nis not\n{}", whole, pieces).c_str());
}

}  // namespace holdfast::formats
