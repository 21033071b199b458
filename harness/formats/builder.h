// HistoryBuilder: what every reader hands its events to. Makes values, numbers texts, pairs operations, and refuses
// what cannot have happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/formats/recorded.h"
#include "harness/formats/value_bits.h"
#include "harness/formats/window.h"

namespace holdfast::formats {

inline constexpr int kDeepest = 200;  // levels of nesting; readers take a stack frame per level

// At most 60 bytes of a text, and nothing in it that a terminal would obey.
std::string printable(std::string_view text);
std::string in_quotes(std::string_view text);  // "…"

// An event while its fields are being read.
struct Draft {
  enum class Who : std::uint8_t { missing, number, other };

  RecordedEvent event;
  Who who = Who::missing;
  bool typed = false;
};

class HistoryBuilder {
 public:
  HistoryBuilder(Format format, bool tuple_keys);

  // Values.
  RecordedValue integer(std::int64_t number);
  RecordedValue real(double number);
  RecordedValue boolean(bool yes) const;
  RecordedValue text(std::string_view text);
  TextId intern(std::string_view text) { return history_.texts_.intern(text); }
  TextId intern_error(std::string_view text);  // shortened: some histories carry a whole stack trace in each
  [[nodiscard]] TextId error_of(RecordedValue text) const { return history_.text_id(text); }
  // Lists and maps: open() gives a mark, push() what is in them (a map: name, value, name, value, …), innermost first.
  [[nodiscard]] std::size_t open() const { return scratch_.size(); }
  void push(RecordedValue value) { scratch_.push_back(value.bits()); }
  void push_name(TextId name) { scratch_.push_back(name); }
  RecordedValue close_list(std::size_t mark);
  RecordedValue close_map(std::size_t mark);
  void forget_from(std::size_t mark) { scratch_.resize(mark); }
  // The map that is the value of an event: its member "hold" goes where holds are kept.
  RecordedValue close_event_map(std::size_t mark, Draft& draft);

  // Fields, with the complaints that all formats share.
  void set_process(Draft& draft, std::int64_t number) const;
  bool set_type(Draft& draft, std::string_view name) const;  // false: there is no such type
  void add(Draft& draft);
  void ignore_line() { ++history_.ignored_lines; }
  void truncate() { history_.truncated = true; }
  [[nodiscard]] bool truncated() const { return history_.truncated; }
  [[nodiscard]] bool empty() const { return history_.size_ == 0 && history_.kept_out == 0; }
  [[nodiscard]] RecordedHistory finish() { return std::move(history_); }

 private:
  [[nodiscard]] std::string field(std::string_view name) const;  // as it is written in this format
  RecordedValue keep(Kind kind, std::size_t mark);
  std::uint64_t* allocate(std::size_t words, std::uint64_t& place);
  RecordedValue keep_word(Kind kind, std::uint64_t word);
  void split_tuple(Draft& draft);
  void keep_out();
  void pair_up(const RecordedEvent& event);
  std::uint64_t& open_operation(std::int32_t process);  // position + 1 of the invocation; 0: none
  void append(const RecordedEvent& event);

  RecordedHistory history_;
  bool tuple_keys_;
  std::vector<std::uint64_t> scratch_;
  std::size_t arena_used_ = 0;      // words of the last chunk of the arena
  std::size_t arena_capacity_ = 0;  // of that chunk
  std::vector<std::uint64_t> open_;
  std::unordered_map<std::int32_t, std::uint64_t> open_beyond_;  // processes with large numbers
  std::int64_t latest_ = kNoTime;
};

}  // namespace holdfast::formats
