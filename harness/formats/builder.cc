#include "harness/formats/builder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "harness/formats/utf8.h"

namespace holdfast::formats {

namespace {

constexpr std::size_t kQuoted = 60;
constexpr std::size_t kLongestError = 200;
constexpr std::int32_t kDenseProcesses = 1 << 22;

std::string_view shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_continuation(text[bytes])) --bytes;  // not in the middle of a character
  return text.substr(0, bytes);
}

std::optional<std::int64_t> small_integer(RecordedValue value, unsigned bits) {
  if (kind_of(value) != Kind::integer || !fits(integer_of(value), bits)) return std::nullopt;
  return integer_of(value);
}

// One half of a pair that is held in the value itself.
std::optional<std::int64_t> half_of(RecordedValue value) {
  if (value.nothing()) return kNoHalf;
  const auto number = small_integer(value, kHalfBits);
  return number == kNoHalf ? std::nullopt : number;
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string_view part = shortened(text, kQuoted);
  const auto last = static_cast<unsigned char>(simdjson::validate_utf8(part) ? 0xFF : 0x7F);
  std::string out;
  for (const char character : part) {
    const auto byte = static_cast<unsigned char>(character);
    out += byte >= ' ' && byte != 0x7F && byte <= last ? character : '?';
  }
  if (text.size() > kQuoted) out += "...";
  return out;
}

std::string in_quotes(std::string_view text) {
  return '"' + printable(text) + '"';
}

HistoryBuilder::HistoryBuilder(Format format, bool tuple_keys) : tuple_keys_(tuple_keys) {
  history_.format = format;
}

RecordedValue HistoryBuilder::integer(std::int64_t number) {
  return fits(number, kPayloadBits) ? make_integer(number)
                                    : keep_word(Kind::wide_integer, static_cast<std::uint64_t>(number));
}

RecordedValue HistoryBuilder::real(double number) {
  return keep_word(Kind::real, std::bit_cast<std::uint64_t>(number));
}

RecordedValue HistoryBuilder::boolean(bool yes) const {
  return make_value(Kind::boolean, yes ? 1 : 0);
}

RecordedValue HistoryBuilder::text(std::string_view text) {
  return make_value(Kind::text, intern(text));
}

TextId HistoryBuilder::intern_error(std::string_view text) {
  return intern(shortened(text, kLongestError));
}

std::uint64_t* HistoryBuilder::allocate(std::size_t words, std::uint64_t& place) {
  auto& chunks = history_.arena_;
  if (arena_used_ + words > arena_capacity_) {
    arena_capacity_ = std::max(words, RecordedHistory::kArenaChunk);
    chunks.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(arena_capacity_));
    arena_used_ = 0;
  }
  place = (static_cast<std::uint64_t>(chunks.size() - 1) << 32U) | arena_used_;
  std::uint64_t* const to = chunks.back().get() + arena_used_;
  arena_used_ += words;
  return to;
}

RecordedValue HistoryBuilder::keep_word(Kind kind, std::uint64_t word) {
  std::uint64_t place = 0;
  *allocate(1, place) = word;
  return make_value(kind, place);
}

// Moves what lies on the scratch from `mark` on into the arena.
RecordedValue HistoryBuilder::keep(Kind kind, std::size_t mark) {
  const std::size_t words = scratch_.size() - mark;
  std::uint64_t place = 0;
  std::uint64_t* const to = allocate(words + 1, place);
  to[0] = kind == Kind::map ? words / 2 : words;
  std::memcpy(to + 1, scratch_.data() + mark, words * sizeof(std::uint64_t));
  scratch_.resize(mark);
  return make_value(kind, place);
}

RecordedValue HistoryBuilder::close_list(std::size_t mark) {
  const std::size_t count = scratch_.size() - mark;
  if (count == 0) return make_value(Kind::empty_list, 0);
  if (count == 2) {
    const auto first = half_of(RecordedValue(scratch_[mark]));
    const auto second = half_of(RecordedValue(scratch_[mark + 1]));
    if (first && second) {
      scratch_.resize(mark);
      return make_value(Kind::pair, (static_cast<std::uint64_t>(*first) << kHalfBits) |
                                        low_bits(static_cast<std::uint64_t>(*second), kHalfBits));
    }
  }
  return keep(Kind::list, mark);
}

RecordedValue HistoryBuilder::close_map(std::size_t mark) {
  const std::size_t count = (scratch_.size() - mark) / 2;
  if (count == 0) return make_value(Kind::empty_map, 0);
  if (count == 1 && scratch_[mark] < kMemberNames) {
    if (const auto number = small_integer(RecordedValue(scratch_[mark + 1]), kMemberBits)) {
      const std::uint64_t name = scratch_[mark];
      scratch_.resize(mark);
      return make_value(Kind::member,
                        (name << kMemberBits) | low_bits(static_cast<std::uint64_t>(*number), kMemberBits));
    }
  }
  return keep(Kind::map, mark);
}

RecordedValue HistoryBuilder::close_event_map(std::size_t mark, Draft& draft) {
  std::size_t kept = mark;
  for (std::size_t at = mark; at < scratch_.size(); at += 2) {
    if (scratch_[at] != static_cast<TextId>(Member::hold)) {
      scratch_[kept] = scratch_[at];
      scratch_[kept + 1] = scratch_[at + 1];
      kept += 2;
      continue;
    }
    const RecordedValue hold(scratch_[at + 1]);
    const auto number = small_integer(hold, 33);
    if (hold.nothing()) {
      draft.event.hold = kNoHold;
    } else if (number && *number >= 0 && *number < static_cast<std::int64_t>(kNoHold)) {
      draft.event.hold = static_cast<std::uint32_t>(*number);
    } else {
      throw Complaint(
          fmt::format("the hold is {}; number the holds from 0 to 4294967294", printable(history_.describe(hold))));
    }
  }
  scratch_.resize(kept);
  return close_map(mark);
}

std::string HistoryBuilder::field(std::string_view name) const {
  return history_.format == Format::jsonl ? fmt::format("\"{}\"", name) : fmt::format(":{}", name);
}

void HistoryBuilder::set_process(Draft& draft, std::int64_t number) const {
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
    throw Complaint(fmt::format("process {}; number the processes from 0 to 2147483647", number));
  }
  draft.event.process = static_cast<std::int32_t>(number);
  draft.who = Draft::Who::number;
}

bool HistoryBuilder::set_type(Draft& draft, std::string_view name) const {
  for (const EventType type : {EventType::invoke, EventType::ok, EventType::fail, EventType::info}) {
    if (name != to_string(type)) continue;
    draft.event.type = type;
    draft.typed = true;
    return true;
  }
  return false;
}

void HistoryBuilder::keep_out() {
  ++history_.kept_out;
  auto& gaps = history_.gaps_;
  if (gaps.empty() || gaps.back().at != history_.size_) gaps.push_back({.at = history_.size_});
  gaps.back().kept_out = history_.kept_out;
}

void HistoryBuilder::add(Draft& draft) {
  RecordedEvent& event = draft.event;
  if (draft.who == Draft::Who::other) {
    keep_out();
    return;
  }
  const auto require = [&](bool there, std::string_view name, std::string_view what) {
    if (!there) throw Complaint(fmt::format("{} is missing; every event needs its {}", field(name), what));
  };
  require(draft.who != Draft::Who::missing, "process", "process");
  require(draft.typed, "type", "type (invoke, ok, fail or info)");
  require(event.f != kNoText, "f", "function");
  if (history_.format == Format::jsonl && is_note(history_.text(event.f))) {
    event.note = true;
    event.type = EventType::info;
  } else {
    if (tuple_keys_) split_tuple(draft);
    pair_up(event);
  }
  if (event.time == kNoTime) {
    history_.timed = false;
  } else {
    history_.time_ordered = history_.time_ordered && event.time >= latest_;
    latest_ = std::max(latest_, event.time);
  }
  append(event);
}

// Jepsen's independent keys: the value is [key value].
void HistoryBuilder::split_tuple(Draft& draft) {
  RecordedEvent& event = draft.event;
  if (event.key != kNoText) return;
  const RecordedValue tuple = event.value;
  if (history_.shape(tuple) != Shape::list || history_.length(tuple) != 2) {
    if (event.type != EventType::invoke) return;  // a completion may leave its value out
    throw Complaint(fmt::format(
        "the value is {}, neither a [key value] pair nor is there a {}; check it without partitioning by key",
        printable(history_.describe(tuple)), field("key")));
  }
  const RecordedValue key = history_.element(tuple, 0);
  event.value = history_.element(tuple, 1);
  event.key = history_.shape(key) == Shape::text ? history_.text_id(key) : intern(history_.describe(key));
  if (kind_of(tuple) == Kind::list && payload_of(tuple) >> 32U == history_.arena_.size() - 1) {
    arena_used_ = low_bits(tuple.bits(), 32);  // the pair was the last thing in it, what it held lies before
  }
  if (history_.shape(event.value) == Shape::map) {
    const std::size_t mark = open();
    for (std::size_t at = 0; at < history_.length(event.value); ++at) {
      const auto [name, value] = history_.member_at(event.value, at);
      push_name(name);
      push(value);
    }
    event.value = close_event_map(mark, draft);
  }
}

std::uint64_t& HistoryBuilder::open_operation(std::int32_t process) {
  if (process >= kDenseProcesses) return open_beyond_[process];
  const auto at = static_cast<std::size_t>(process);
  if (at >= open_.size()) open_.resize(std::max(at + 1, open_.size() * 2));
  return open_[at];
}

void HistoryBuilder::pair_up(const RecordedEvent& event) {
  std::uint64_t& open = open_operation(event.process);
  if (event.type == EventType::invoke) {
    if (open != 0) {
      throw Complaint(
          fmt::format("process {} invokes {} while its {} (event {}) is still open; a process does one thing at a time",
                      event.process, in_quotes(history_.text(event.f)), in_quotes(history_.text(history_[open - 1].f)),
                      history_.ordinal(open - 1)));
    }
    open = history_.size_ + 1;
    ++history_.operations;
    return;
  }
  if (open == 0 || history_[open - 1].f != event.f) {
    throw Complaint(fmt::format("process {} completes {}, which it has not invoked; a completion needs its invocation",
                                event.process, in_quotes(history_.text(event.f))));
  }
  open = 0;
}

void HistoryBuilder::append(const RecordedEvent& event) {
  const std::size_t within = history_.size_ % RecordedHistory::kChunk;
  if (within == 0) {
    history_.chunks_.push_back(std::make_unique_for_overwrite<RecordedEvent[]>(RecordedHistory::kChunk));
  }
  history_.chunks_.back()[within] = event;
  ++history_.size_;
}

}  // namespace holdfast::formats
