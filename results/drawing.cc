#include "results/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "results/html.h"
#include "results/text.h"

namespace holdfast {
namespace {

constexpr double kWidth = 960;
constexpr double kGutter = 118;  // names of the processes
constexpr double kRight = 12;
constexpr double kHead = 22;  // names of the faults
constexpr double kLabelHeight = 15;
constexpr double kHoldHeight = 20;
constexpr double kOperationHeight = 7;
constexpr double kRowGap = 14;
constexpr double kAxis = 26;
constexpr double kLetter = 6.3;  // width of a letter, on the safe side
constexpr std::size_t kMostRows = 6;
constexpr std::size_t kMostEvents = 14;
constexpr std::size_t kMostOperations = 150;

struct Label {
  const Event* event;
  double x = 0;
  std::size_t level = 0;
  bool left = false;  // written to the left of its tick
};

struct Lane {
  Process process{};
  std::string node;
  std::vector<Label> labels;
  std::vector<const BelievedHold*> holds;
  std::size_t levels = 0;
  double top = 0;

  [[nodiscard]] double bar() const { return top + static_cast<double>(levels) * kLabelHeight + 2; }
  [[nodiscard]] double bottom() const { return bar() + kHoldHeight + 3 + kOperationHeight; }
};

struct Window {
  Time from{};
  Time to{};

  [[nodiscard]] double x(Time time) const {
    const Time inside = std::clamp(time, from, to);
    const auto span = static_cast<double>(std::max<std::int64_t>((to - from).count(), 1));
    return kGutter + (kWidth - kGutter - kRight) * static_cast<double>((inside - from).count()) / span;
  }
  [[nodiscard]] bool meets(Time start, Time end) const { return start <= to && end >= from; }
  // Takes a moment in when that does not squeeze everything else.
  void reach_for(Time time, Time reach) {
    if (time < from && from - time <= reach) from = time;
    if (time > to && time - to <= reach) to = time;
  }
};

std::string label_text(const Event& event) {
  return fmt::format("{} {} {}", event.index, event.f, to_string(event.type));
}

std::vector<Lane> lanes_of(const std::vector<const Event*>& events) {
  std::vector<Lane> lanes;
  for (const Event* event : events) {
    if (event->process == Process::nemesis) continue;
    auto found =
        std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) { return lane.process == event->process; });
    if (found == lanes.end()) {
      if (lanes.size() == kMostRows) continue;
      Lane& lane = lanes.emplace_back();
      lane.process = event->process;
      lane.node = event->node;
      found = std::prev(lanes.end());
    }
    found->labels.push_back({.event = event});
  }
  return lanes;
}

Window window_of(const std::vector<Lane>& lanes, const std::vector<FaultRecord>& faults, Time end) {
  Window window{.from = Time::max(), .to = Time::min()};
  for (const Lane& lane : lanes) {
    for (const Label& label : lane.labels) {
      window.from = std::min(window.from, label.event->time);
      window.to = std::max(window.to, label.event->time);
    }
  }
  const Time reach = std::max<Time>(window.to - window.from, std::chrono::milliseconds(40));
  for (const Lane& lane : lanes) {
    for (const BelievedHold* hold : lane.holds) {
      window.reach_for(hold->start, reach);
      window.reach_for(hold->end, reach / 2);
    }
  }
  for (const FaultRecord& fault : faults) {
    if (!window.meets(fault.start, fault.end)) continue;
    window.reach_for(fault.start, reach / 2);
    window.reach_for(fault.end, reach / 2);
  }
  const Time margin = std::max<Time>((window.to - window.from) / 20, std::chrono::microseconds(500));
  window.from = std::max(window.from - margin, Time{});
  window.to = std::min(window.to + margin, end + margin);
  return window;
}

// Labels of one lane are stacked until none touches another; the lane grows with the stack. A label stands to the right
// of its tick, unless that would put it across the next tick or over the edge.
void place_labels(Lane& lane, const Window& window) {
  using Span = std::pair<double, double>;
  std::vector<std::vector<Span>> taken;
  for (Label& label : lane.labels) label.x = window.x(label.event->time);
  double previous = kGutter;
  for (std::size_t i = 0; i < lane.labels.size(); ++i) {
    Label& label = lane.labels[i];
    const double width = kLetter * static_cast<double>(label_text(*label.event).size()) + 8;
    const double next = i + 1 < lane.labels.size() ? lane.labels[i + 1].x : kWidth;
    label.left = label.x + width > next && label.x - width >= previous;
    label.left = label.left || label.x + width > kWidth;
    previous = label.x;
    const Span span = label.left ? Span(label.x - width, label.x) : Span(label.x, label.x + width);
    const auto free = [&](std::size_t level) {
      return std::none_of(taken[level].begin(), taken[level].end(),
                          [&](const Span& other) { return span.first < other.second && other.first < span.second; });
    };
    while (label.level < taken.size() && !free(label.level)) ++label.level;
    if (label.level == taken.size()) taken.emplace_back();
    taken[label.level].push_back(span);
  }
  lane.levels = std::max<std::size_t>(taken.size(), 1);
}

std::string rectangle(std::string_view style, double x, double y, double width, double height,
                      std::string_view title = "") {
  return fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>)", style, x, y,
                     std::max(width, 1.0), height,
                     title.empty() ? "" : fmt::format("<title>{}</title>", html_escape(title)));
}

std::string words(std::string_view style, double x, double y, std::string_view text,
                  std::string_view anchor = "start") {
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", style, x, y, anchor,
                     html_escape(text));
}

std::string draw_faults(const Window& window, const std::vector<FaultRecord>& faults, double bottom) {
  std::string svg;
  double written = 0;  // to the right of this there is room for a name
  for (const FaultRecord& fault : faults) {
    if (!window.meets(fault.start, fault.end)) continue;
    const double from = window.x(fault.start);
    const double to = window.x(fault.end);
    const std::string name = describe(fault) + (fault.effective ? "" : " (no effect seen)");
    svg += rectangle(fault.effective ? "fault" : "fault idle", from, 0, to - from, bottom, name);
    const double width = kLetter * static_cast<double>(name.size());
    const double x = std::max(std::min(from + 4, kWidth - width), kGutter);
    if (x < written) continue;
    svg += words("fault-name", x, 14, name);
    written = x + width + 6;
  }
  return svg;
}

std::string draw_overlaps(const Window& window, const std::vector<Lane>& lanes) {
  std::string svg;
  for (std::size_t a = 0; a < lanes.size(); ++a) {
    for (std::size_t b = a + 1; b < lanes.size(); ++b) {
      for (const BelievedHold* one : lanes[a].holds) {
        for (const BelievedHold* two : lanes[b].holds) {
          const Time from = std::max(one->start, two->start);
          const Time to = std::min(one->end, two->end);
          if (one->acquired->key != two->acquired->key || from >= to || !window.meets(from, to)) continue;
          const double left = window.x(from);
          const double right = window.x(to);
          const double top = lanes[a].bar();
          svg += rectangle("overlap", left, top, right - left, lanes[b].bar() + kHoldHeight - top);
          const std::string text =
              fmt::format("both believe they hold {}: {}", one->acquired->key, duration_text(to - from));
          const double half = kLetter * static_cast<double>(text.size()) / 2;
          const double middle = std::clamp((left + right) / 2, kGutter + half, kWidth - half);
          svg += words("overlap-name", middle, lanes[b].bottom() + kRowGap - 2, text, "middle");
        }
      }
    }
  }
  return svg;
}

std::string draw_lane(const Lane& lane, const Window& window) {
  std::string svg =
      words("process", kGutter - 10, lane.bar() + 14, fmt::format("process {}", number(lane.process)), "end");
  if (!lane.node.empty()) svg += words("node", kGutter - 10, lane.bar() + 28, lane.node, "end");
  svg += fmt::format(R"(<line class="lane" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", kGutter, kWidth - kRight,
                     lane.bar() + kHoldHeight + 1.5);
  for (const BelievedHold* hold : lane.holds) {
    if (!window.meets(hold->start, hold->end)) continue;
    const double from = window.x(hold->start);
    const double to = window.x(hold->end);
    svg += rectangle(
        "hold", from, lane.bar(), to - from, kHoldHeight,
        fmt::format("process {} believes it holds {} from {} to {}", number(lane.process), hold->acquired->key,
                    duration_text(hold->start), hold->ended == nullptr ? "the end" : duration_text(hold->end)));
    const std::string name = "believes it holds " + hold->acquired->key;
    const std::string shorter = hold->acquired->key;
    for (const std::string& text : {name, shorter}) {
      if (kLetter * static_cast<double>(text.size()) + 8 > to - from) continue;
      svg += words("hold-name", from + 5, lane.bar() + 14, text);
      break;
    }
  }
  for (const Label& label : lane.labels) {
    const double base = lane.top + kLabelHeight * static_cast<double>(lane.levels - label.level) - 3;
    svg += fmt::format("<a href=\"#e={}\">", label.event->index);
    svg += fmt::format(R"(<line class="mark" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)", label.x, base - 8,
                       lane.bar() + kHoldHeight + 1.5);
    svg += words("mark-name", label.left ? label.x - 4 : label.x + 4, base, label_text(*label.event),
                 label.left ? "end" : "start");
    svg += "</a>";
  }
  return svg;
}

std::string draw_axis(const Window& window, double y) {
  const double span = static_cast<double>((window.to - window.from).count());
  double step = std::pow(10, std::floor(std::log10(span / 6)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / step > 9) step *= factor;
  }
  const int digits = std::max(0, static_cast<int>(std::ceil(9 - std::log10(step) - 1e-9)));
  std::string svg =
      fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", kGutter, kWidth - kRight, y);
  const auto first = static_cast<std::int64_t>(std::ceil(static_cast<double>(window.from.count()) / step));
  const auto last = static_cast<std::int64_t>(std::floor(static_cast<double>(window.to.count()) / step));
  for (std::int64_t tick = first; tick <= last; ++tick) {
    const double at = static_cast<double>(tick) * step;
    const double x = window.x(Time(std::llround(at)));
    svg += fmt::format(R"(<line class="axis" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)", x, y, y + 4);
    if (x < kWidth - 24) svg += words("tick", x, y + 16, fmt::format("{:.{}f} s", at / 1e9, digits), "middle");
  }
  return svg;
}

}  // namespace

Drawing::Drawing(const History& history, const std::vector<FaultRecord>& faults)
    : history_(history), faults_(faults), holds_(believed_holds(history)) {
  for (const Event& event : history.events()) by_index_.emplace(event.index, &event);
}

const Event* Drawing::event(std::uint64_t index) const {
  const auto found = by_index_.find(index);
  return found == by_index_.end() ? nullptr : found->second;
}

std::string Drawing::svg(const Finding& finding) const {
  std::vector<const Event*> events;
  for (const std::uint64_t index : finding.events) {
    if (const Event* found = event(index); found != nullptr && events.size() < kMostEvents) events.push_back(found);
  }
  std::sort(events.begin(), events.end(), [](const Event* a, const Event* b) { return a->index < b->index; });
  std::vector<Lane> lanes = lanes_of(events);
  if (lanes.empty()) return "";
  Window window{.from = Time::max(), .to = Time::min()};
  for (const Event* each : events) {
    window.from = std::min(window.from, each->time);
    window.to = std::max(window.to, each->time);
  }
  for (Lane& lane : lanes) {
    for (const BelievedHold& hold : holds_) {
      if (hold.acquired->process == lane.process && window.meets(hold.start, hold.end)) lane.holds.push_back(&hold);
    }
  }
  window = window_of(lanes, faults_, history_.end());
  double y = kHead;
  for (Lane& lane : lanes) {
    lane.top = y;
    place_labels(lane, window);
    y = lane.bottom() + kRowGap;
  }
  std::string body = draw_faults(window, faults_, y) + draw_overlaps(window, lanes);
  std::size_t operations = 0;
  for (const Operation& operation : history_.operations()) {
    const Time end = operation.complete == nullptr ? history_.end() : operation.complete->time;
    if (operation.invoke->time > window.to || operations == kMostOperations) break;
    const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                   [&](const Lane& each) { return each.process == operation.invoke->process; });
    if (lane == lanes.end() || end < window.from) continue;
    ++operations;
    const double from = window.x(operation.invoke->time);
    body += rectangle(operation.ok()       ? "op-ok"
                      : operation.failed() ? "op-fail"
                                           : "op-info",
                      from, lane->bar() + kHoldHeight + 3, window.x(end) - from, kOperationHeight,
                      fmt::format("{} {} (event {})", operation.invoke->f,
                                  operation.ok()       ? "ok"
                                  : operation.failed() ? "fail"
                                                       : "info",
                                  operation.invoke->index));
  }
  for (const Lane& lane : lanes) body += draw_lane(lane, window);
  body += draw_axis(window, y + 4);
  return fmt::format(R"(<svg class="drawing" viewBox="0 0 {} {:.0f}" role="img" aria-label="{}">{}</svg>)", kWidth,
                     y + kAxis, html_escape(finding.because), body);
}

}  // namespace holdfast
