#include "results/card.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "results/text.h"

namespace holdfast {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kNarrowest = 72;
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
  // What is to be copied has to survive it: a command that is too long goes on after a backslash, as in a shell, and
  // no word of it is ever cut, even where that makes the line too wide.
  void command(std::string_view label, std::string_view text, std::size_t column) {
    std::string current = paint(Ink::quiet, padded(std::string(label), column));
    bool fresh = true;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      if (!fresh && display_width(current) + 1 + display_width(word) + 2 > width_) {
        line(current + " \\");
        current = std::string(column, ' ');
        fresh = true;
      }
      if (!fresh) current += ' ';
      current += word;
      fresh = false;
    }
    line(current);
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
  if (effective == faults.size()) {
    return counted(faults.size(), "fault") +
           (faults.size() == 1 ? ", seen to take effect" : ", each seen to take effect");
  }
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

// "event 913" is one word to the eye: its space is hidden from the line breaking and put back after it.
void indented(Sheet& sheet, std::string_view text, std::size_t column, Ink ink) {
  constexpr char kGlue = '\x01';  // printable() leaves none in the text
  constexpr std::string_view kWord = "event ";
  std::string glued = printable(text);
  for (std::size_t at = 0; (at = glued.find(kWord, at)) != std::string::npos; at += kWord.size()) {
    glued[at + kWord.size() - 1] = kGlue;
  }
  for (std::string& part : wrapped(glued, sheet.width() - column)) {
    std::replace(part.begin(), part.end(), kGlue, ' ');
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

// A title that does not fit goes on in the next line, set in.
std::vector<std::string> hanging(const std::string& title, std::size_t width) {
  const std::string text = printable(title);
  if (display_width(text) <= width) return {text};
  std::vector<std::string> lines = wrapped(text, width - 2);
  for (std::size_t i = 1; i < lines.size(); ++i) lines[i] = "  " + lines[i];
  return lines;
}

void property_table(Sheet& sheet, const std::vector<PropertyResult>& properties) {
  std::vector<std::string> titles;
  titles.reserve(properties.size());
  for (const PropertyResult& property : properties) titles.push_back(printable(property.title));
  constexpr std::size_t kVerdict = 15;
  constexpr std::size_t kLeastRest = 28;
  const std::size_t widest = std::min<std::size_t>(44, sheet.width() - kMarginColumns - kVerdict - kLeastRest);
  const std::size_t first = title_column(titles, widest) + 3;
  const std::size_t rest = sheet.width() - kMarginColumns - first - kVerdict;
  const std::string margin(kMarginColumns, ' ');
  sheet.line(margin +
             sheet.paint(Ink::quiet, padded("Promise", first) + padded("Verdict", kVerdict) + "Put to the test by"));
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const Mark mark = mark_of(properties[i].verdict);
    const std::vector<std::string> left = hanging(titles[i], first - 3);
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

// Fault names as headings: broken after ':', '@', ',' and '+' when the column is too narrow.
std::vector<std::string> heading_lines(const std::string& label, std::size_t width) {
  std::vector<std::string> lines(1);
  std::string piece;
  const auto put = [&] {
    if (!lines.back().empty() && display_width(lines.back() + piece) > width) lines.emplace_back();
    lines.back() += piece;
    piece.clear();
  };
  for (const char c : printable(label)) {
    piece += c;
    if (std::string_view(":@,+ ").find(c) != std::string_view::npos) put();
  }
  put();
  std::vector<std::string> cut;
  for (const std::string& line : lines) {
    for (std::string& part : wrapped(line, width)) cut.push_back(std::move(part));
  }
  return cut;
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
    text.erase(text.find_last_not_of(' ') + 1);
    sheet.line(margin + sheet.paint(Ink::quiet, text));
  }
  for (const AuditRow& row : rows) {
    const std::vector<std::string> titles = hanging(row.title, shape.first - 2);
    for (std::size_t level = 0; level < titles.size(); ++level) {
      std::string text = margin + padded(titles[level], shape.first);
      for (std::size_t run = shape.from; level == 0 && run < shape.to; ++run) {
        text += padded(sheet.paint(ink_of(row.marks[run]), sign_and_word(row.marks[run])), shape.each);
      }
      sheet.line(text);
    }
  }
}

// As many faults beside each other as fit; the column of promises gives way first, down to what is readable.
void matrices(Sheet& sheet, const Audit& audit, const std::vector<AuditRow>& rows) {
  constexpr std::size_t kEach = 14;  // "○ not tested" and a gap
  constexpr std::size_t kLeastFirst = 30;
  std::vector<std::string> titles;
  titles.reserve(rows.size());
  for (const AuditRow& row : rows) titles.push_back(printable(row.title));
  const std::size_t room = sheet.width() - kMarginColumns + 2;  // the last gap may fall off the edge
  const std::size_t fit = std::max<std::size_t>(1, (room - kLeastFirst) / kEach);
  const std::size_t blocks = (audit.runs.size() + fit - 1) / fit;
  MatrixShape shape;
  for (std::size_t block = 0; block < blocks; ++block) {
    shape.to = audit.runs.size() * (block + 1) / blocks;
    shape.first = std::min(title_column(titles, room) + 3, room - (shape.to - shape.from) * kEach);
    const std::size_t left = room - shape.first;
    shape.each = std::min<std::size_t>(left / (shape.to - shape.from), 20);
    if (block > 0) sheet.line();
    matrix(sheet, audit, rows, shape);
    shape.from = shape.to;
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
  std::string ran = fmt::format("{}, {}: {} ok, {} fail, {} info", duration_text(results.stats.duration),
                                counted(all, "operation"), grouped(count.ok), grouped(count.fail), grouped(count.info));
  if (results.stats.truncated) ran += "; the history ends in the middle of a line, as after a crash";
  sheet.labelled("  Verdict", sentence_of(results), kLabel);
  sheet.labelled("  Run", ran, kLabel);
  sheet.labelled("  Faults", faults_sentence(results.faults), kLabel);
  sheet.labelled("  Seed", std::to_string(info.seed), kLabel);
  sheet.line();
  std::vector<PropertyResult> promises;
  std::copy_if(results.properties.begin(), results.properties.end(), std::back_inserter(promises), is_promise);
  property_table(sheet, promises);
  broken_properties(sheet, promises);
  sheet.line();
  sheet.rule();
  sheet.command("  Repeat", repeat_command(info), kLabel);
  sheet.command("  Re-check", "./holdfast check " + folder.string(), kLabel);
  sheet.command("  Report", (folder / "report.html").string(), kLabel);
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
    sheet.line(std::string(kMarginColumns, ' ') + sheet.paint(Ink::quiet, row.broken_in->folder.string()));
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
  if (!page.empty()) sheet.command("  Report", page.string(), kLabel);
  return sheet.take();
}

}  // namespace holdfast
