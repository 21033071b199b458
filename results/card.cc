#include "results/card.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "results/text.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kFindingsPerProperty = 2;  // on a card; the report has them all
constexpr std::size_t kMarginColumns = 2;

enum class Ink : std::uint8_t { plain, strong, quiet, green, red, yellow };

// Collects the lines of a card; knows whether they are coloured and how wide they may be.
class Sheet {
 public:
  explicit Sheet(const CardStyle& style)
      : colour_(style.colour), width_(std::clamp(style.width, kNarrowest, kWidest)) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::string paint(Ink ink, std::string_view text) const {
    if (!colour_ || ink == Ink::plain) return std::string(text);
    static constexpr std::string_view kCodes[] = {"0", "1", "2", "32", "1;31", "33"};
    return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(ink)], text);
  }
  void line(std::string_view text = "") {
    text_ += text;
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }
  void rule() { line(paint(Ink::quiet, repeat("─", width_))); }
  // "Seed     42" with continuation lines under the text.
  void labelled(std::string_view label, std::string_view text, std::size_t column) {
    bool first = true;
    for (const std::string& part : wrapped(text, width_ - column)) {
      line(first ? paint(Ink::quiet, padded(std::string(label), column)) + part : std::string(column, ' ') + part);
      first = false;
    }
  }
  // A command has to survive copy and paste: where it is too long it goes on with a backslash, as in a shell.
  void command(std::string_view label, std::string_view text, std::size_t column) {
    std::vector<std::string> parts = wrapped(text, width_ - column - 2);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string lead =
          i == 0 ? paint(Ink::quiet, padded(std::string(label), column)) : std::string(column, ' ');
      line(lead + parts[i] + (i + 1 < parts.size() ? " \\" : ""));
    }
  }
  static std::string repeat(std::string_view glyph, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += glyph;
    return text;
  }
  std::string take() { return std::move(text_); }

 private:
  bool colour_;
  std::size_t width_;
  std::string text_;
};

Ink ink_of(Mark mark) {
  switch (mark) {
    case Mark::held:
      return Ink::green;
    case Mark::broken:
      return Ink::red;
    case Mark::not_tested:
    case Mark::undecided:
      return Ink::yellow;
    case Mark::not_applicable:
      return Ink::quiet;
  }
  return Ink::plain;
}

// A sign for the eye that runs down a column; the word is what counts.
std::string sign_and_word(Mark mark) {
  static constexpr std::string_view kSigns[] = {"✓", "✗", "○", "?", "·"};
  return fmt::format("{} {}", kSigns[static_cast<std::size_t>(mark)], to_string(mark));
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

void title_line(Sheet& sheet, const std::string& subject, Ink ink, std::string_view verdict) {
  const std::string left = fmt::format("{}  {}", sheet.paint(Ink::strong, "HOLDFAST"), printable(subject));
  const std::string right = sheet.paint(ink, verdict);
  const std::size_t used = display_width(left) + display_width(right);
  if (used + 2 > sheet.width()) {
    for (const std::string& part : wrapped("HOLDFAST  " + printable(subject), sheet.width())) sheet.line(part);
    sheet.line(right);
    return;
  }
  sheet.line(left + std::string(sheet.width() - used, ' ') + right);
}

std::pair<Ink, std::string_view> verdict_words(Validity validity) {
  switch (validity) {
    case Validity::valid:
      return {Ink::green, "✓ VALID"};
    case Validity::unknown:
      return {Ink::yellow, "○ UNKNOWN"};
    case Validity::invalid:
      return {Ink::red, "✗ INVALID"};
  }
  return {Ink::plain, ""};
}

std::string faults_sentence(const std::vector<FaultRecord>& faults) {
  if (faults.empty()) return "no fault was injected";
  const auto effective = static_cast<std::uint64_t>(
      std::count_if(faults.begin(), faults.end(), [](const FaultRecord& fault) { return fault.effective; }));
  if (effective == faults.size()) return counted(faults.size(), "fault") + ", each seen to take effect";
  return fmt::format("{}, only {} seen to take effect", counted(faults.size(), "fault"), grouped(effective));
}

std::string exposure_text(const Verdict& verdict) {
  const Mark mark = mark_of(verdict);
  if (mark == Mark::not_applicable) return verdict.reason;
  if (verdict.exposures == 0) return verdict.reason.empty() ? "never put to the test" : verdict.reason;
  std::string text = grouped(verdict.exposures);
  if (!verdict.exposure.empty()) text += ' ' + verdict.exposure;
  if (mark == Mark::undecided && !verdict.reason.empty()) text += ": " + verdict.reason;
  return text;
}

std::string numbers(const std::vector<std::uint64_t>& events) {
  constexpr std::size_t kShown = 12;
  std::string text = events.size() == 1 ? "event " : "events ";
  for (std::size_t i = 0; i < std::min(events.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(events[i]);
  if (events.size() > kShown) text += fmt::format(" and {} more", events.size() - kShown);
  return text;
}

void indented(Sheet& sheet, std::string_view text, std::size_t column, Ink ink) {
  for (const std::string& part : wrapped(printable(text), sheet.width() - column)) {
    sheet.line(std::string(column, ' ') + sheet.paint(ink, part));
  }
}

void finding_lines(Sheet& sheet, const Finding& finding) {
  indented(sheet, finding.because, kMarginColumns, Ink::plain);
  if (!finding.events.empty()) indented(sheet, numbers(finding.events), kMarginColumns, Ink::quiet);
}

std::size_t title_column(const std::vector<std::string>& titles, std::size_t widest) {
  std::size_t column = display_width("Promise");
  for (const std::string& title : titles) column = std::max(column, display_width(title));
  return std::min(column, widest);
}

void property_table(Sheet& sheet, const std::vector<PropertyResult>& properties) {
  std::vector<std::string> titles;
  for (const PropertyResult& property : properties) titles.push_back(printable(property.title));
  const std::size_t first = title_column(titles, 44) + 3;
  constexpr std::size_t kVerdict = 15;
  const std::size_t rest = sheet.width() - kMarginColumns - first - kVerdict;
  const std::string margin(kMarginColumns, ' ');
  sheet.line(margin +
             sheet.paint(Ink::quiet, padded("Promise", first) + padded("Verdict", kVerdict) + "Put to the test by"));
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const Mark mark = mark_of(properties[i].verdict);
    const std::vector<std::string> left = wrapped(titles[i], first - 2);
    const std::vector<std::string> right = wrapped(printable(exposure_text(properties[i].verdict)), rest);
    for (std::size_t row = 0; row < std::max(left.size(), right.size()); ++row) {
      std::string text = margin + padded(row < left.size() ? left[row] : "", first);
      text += padded(row == 0 ? sheet.paint(ink_of(mark), sign_and_word(mark)) : "", kVerdict);
      if (row < right.size()) text += mark == Mark::not_applicable ? sheet.paint(Ink::quiet, right[row]) : right[row];
      sheet.line(text);
    }
  }
}

void broken_properties(Sheet& sheet, const std::vector<PropertyResult>& properties) {
  for (const PropertyResult& property : properties) {
    if (mark_of(property.verdict) != Mark::broken) continue;
    const std::vector<Finding>& findings = property.verdict.findings;
    sheet.line();
    sheet.line(sheet.paint(Ink::red, "✗ " + printable(property.title)));
    for (std::size_t i = 0; i < std::min(findings.size(), kFindingsPerProperty); ++i) finding_lines(sheet, findings[i]);
    if (findings.size() > kFindingsPerProperty) {
      indented(sheet, fmt::format("and {} more like it in the report", findings.size() - kFindingsPerProperty),
               kMarginColumns, Ink::quiet);
    }
  }
}

// Fault names as headings: broken after ':' and '@' when a column would be too wide for the table.
std::vector<std::string> heading_lines(const std::string& label, std::size_t width) {
  std::string spaced;
  for (const char c : printable(label)) {
    spaced += c;
    if (display_width(label) > width && (c == ':' || c == '@' || c == ',' || c == '+')) spaced += ' ';
  }
  return wrapped(spaced, width);
}

struct MatrixShape {
  std::size_t first = 0;  // width of the column of promises
  std::size_t each = 0;   // width of a fault's column
  std::size_t from = 0;   // runs [from, to) fit beside each other
  std::size_t to = 0;
};

void matrix(Sheet& sheet, const Audit& audit, const std::vector<AuditRow>& rows, const MatrixShape& shape) {
  const std::string margin(kMarginColumns, ' ');
  std::vector<std::vector<std::string>> headings;
  std::size_t deepest = 1;
  for (std::size_t run = shape.from; run < shape.to; ++run) {
    headings.push_back(heading_lines(audit.runs[run].label, shape.each - 2));
    deepest = std::max(deepest, headings.back().size());
  }
  for (std::size_t level = 0; level < deepest; ++level) {
    std::string text = padded(level + 1 == deepest ? "Promise" : "", shape.first);
    for (const auto& heading : headings) {
      const std::size_t skip = deepest - heading.size();  // headings stand on the table, not hang from the top
      text += padded(level >= skip ? heading[level - skip] : "", shape.each);
    }
    sheet.line(margin + sheet.paint(Ink::quiet, text));
  }
  for (const AuditRow& row : rows) {
    const std::vector<std::string> titles = wrapped(printable(row.title), shape.first - 2);
    for (std::size_t level = 0; level < titles.size(); ++level) {
      std::string text = margin + padded(titles[level], shape.first);
      for (std::size_t run = shape.from; level == 0 && run < shape.to; ++run) {
        text += padded(sheet.paint(ink_of(row.marks[run]), sign_and_word(row.marks[run])), shape.each);
      }
      sheet.line(text);
    }
  }
}

void matrices(Sheet& sheet, const Audit& audit, const std::vector<AuditRow>& rows) {
  std::vector<std::string> titles;
  for (const AuditRow& row : rows) titles.push_back(printable(row.title));
  MatrixShape shape;
  shape.first = title_column(titles, 40) + 3;
  std::size_t widest = display_width("○ not tested");
  for (const AuditRun& run : audit.runs) widest = std::max(widest, std::min<std::size_t>(display_width(run.label), 18));
  shape.each = widest + 2;
  const std::size_t fit = std::max<std::size_t>(1, (sheet.width() - kMarginColumns - shape.first + 2) / shape.each);
  for (shape.from = 0; shape.from < audit.runs.size(); shape.from = shape.to) {
    shape.to = std::min(shape.from + fit, audit.runs.size());
    if (shape.from > 0) sheet.line();
    matrix(sheet, audit, rows, shape);
  }
}

std::pair<Ink, std::string_view> audit_words(const Audit& audit) {
  switch (exit_code(audit)) {
    case 0:
      return verdict_words(Validity::valid);
    case 1:
      return verdict_words(Validity::invalid);
    case 2:
      return verdict_words(Validity::unknown);
    default:
      return {Ink::red, "CRASHED"};
  }
}

}  // namespace

CardStyle card_style_for(int descriptor) {
  CardStyle style;
  if (::isatty(descriptor) == 0) return style;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  style.colour = (no_colour == nullptr || *no_colour == '\0') && !dumb;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::min<std::size_t>(size.ws_col, kWidest);
  return style;
}

std::string run_card(const RunInfo& info, const RunResults& results, const fs::path& folder, const CardStyle& style) {
  Sheet sheet(style);
  const auto [ink, words] = verdict_words(results.validity);
  const std::string faults = info.faults.empty() ? "no faults" : joined(info.faults, ", ");
  title_line(sheet, fmt::format("{} · {} · {}", info.system, info.workload, faults), ink, words);
  sheet.rule();
  constexpr std::size_t kLabel = kMarginColumns + 11;
  const Stats::Count& count = results.stats.operations;
  const std::uint64_t all = count.ok + count.fail + count.info;
  std::string ran = fmt::format("{}, {}: {} ok, {} fail, {} info", seconds_text(results.stats.duration),
                                counted(all, "operation"), grouped(count.ok), grouped(count.fail), grouped(count.info));
  if (results.stats.truncated) ran += "; the history ends in the middle of a line, as after a crash";
  sheet.labelled("  Verdict", sentence_of(results), kLabel);
  sheet.labelled("  Run", ran, kLabel);
  sheet.labelled("  Faults", faults_sentence(results.faults), kLabel);
  sheet.labelled("  Seed", std::to_string(info.seed), kLabel);
  sheet.line();
  property_table(sheet, results.properties);
  broken_properties(sheet, results.properties);
  sheet.line();
  sheet.rule();
  sheet.command("  Repeat", repeat_command(info), kLabel);
  sheet.command("  Re-check", "./holdfast check " + folder.string(), kLabel);
  sheet.labelled("  Report", (folder / "report.html").string(), kLabel);
  return sheet.take();
}

std::string audit_card(const Audit& audit, const fs::path& page, const CardStyle& style) {
  Sheet sheet(style);
  const auto [ink, words] = audit_words(audit);
  title_line(sheet,
             fmt::format("audit of {} · {} · {}", audit.system, audit.workload, counted(audit.runs.size(), "run")), ink,
             words);
  sheet.rule();
  const std::vector<AuditRow> rows = audit_rows(audit);
  matrices(sheet, audit, rows);
  for (const AuditRow& row : rows) {
    if (row.telling == nullptr) continue;
    sheet.line();
    sheet.line(sheet.paint(Ink::red, "✗ " + printable(row.title)) +
               sheet.paint(Ink::quiet, " under " + printable(row.broken_in->label)));
    finding_lines(sheet, *row.telling);
    indented(sheet, row.broken_in->folder.string(), kMarginColumns, Ink::quiet);
  }
  for (const AuditRun& run : audit.runs) {
    if (run.crashed.empty()) continue;
    sheet.line();
    sheet.line(sheet.paint(Ink::red, "Crashed under " + printable(run.label)));
    indented(sheet, run.crashed, kMarginColumns, Ink::plain);
  }
  sheet.line();
  sheet.rule();
  RunInfo info;
  info.argv = audit.argv;
  info.seed = audit.seed;
  constexpr std::size_t kLabel = kMarginColumns + 11;
  sheet.command("  Repeat", repeat_command(info), kLabel);
  if (!page.empty()) sheet.labelled("  Report", page.string(), kLabel);
  return sheet.take();
}

}  // namespace holdfast
