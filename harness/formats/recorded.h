// RecordedHistory: what a file of recorded operations says, in 40 bytes per event, good for hundreds of millions.
//
// Texts stand once in a table. Values are 8 bytes: integers, texts, booleans, pairs of small integers ([3 1], the
// argument of a compare-and-set) and objects with one small integer beside the hold ({"hold":12,"lease_ms":600},
// {"token":17}) are held in them; longer lists and objects lie in an arena. Events stand in chunks, which are never
// moved and can be given back one by one while they are read (drain).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/event.h"
#include "harness/formats/text_table.h"

namespace holdfast::formats {

enum class Format : std::uint8_t {
  jsonl,      // our history.jsonl
  edn,        // Jepsen's maps: one per line, or a vector or list of them
  jepsen_log  // INFO  jepsen.util - 0  :invoke  :read  nil
};
std::string_view to_string(Format format);

// Names of members that lock histories are full of; each table of texts begins with them.
enum class Member : TextId { hold, token, lease_ms, permits, mode, value };
inline constexpr std::size_t kMembers = 6;

inline constexpr std::uint32_t kNoHold = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

enum class Shape : std::uint8_t { nothing, boolean, integer, real, text, list, map };

// Means something only together with the history it came from. Equal bits are equal values; the reverse holds for
// everything but lists, maps and reals (RecordedHistory::equal).
class RecordedValue {
 public:
  constexpr RecordedValue() = default;
  constexpr explicit RecordedValue(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool nothing() const { return bits_ == 0; }
  friend constexpr bool operator==(RecordedValue, RecordedValue) = default;

 private:
  std::uint64_t bits_ = 0;
};

struct RecordedEvent {
  std::int64_t time = kNoTime;  // nanoseconds
  RecordedValue value;          // without its member "hold"
  std::uint32_t hold = kNoHold;
  TextId key = kNoText;
  std::int32_t process = 0;
  TextId f = kNoText;
  TextId error = kNoText;
  EventType type = EventType::invoke;
  bool note = false;  // see is_note(): neither opens nor closes an operation
};
static_assert(sizeof(RecordedEvent) == 40);

class RecordedHistory {
 public:
  RecordedHistory();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const RecordedEvent& operator[](std::size_t at) const { return chunks_[at / kChunk][at % kChunk]; }
  // Calls visit(event) for each event in order, and gives its memory back behind itself. Texts and values stay.
  template <typename Visit>
  void drain(Visit visit) {
    for (std::size_t at = 0; at < size_; ++at) {
      visit(std::as_const(*this)[at]);
      if ((at + 1) % kChunk == 0) chunks_[at / kChunk].reset();
    }
    chunks_.clear();
    size_ = 0;
  }
  // The place of an event in the file, counted from 0 over all events, also those that were kept out.
  [[nodiscard]] std::uint64_t ordinal(std::size_t at) const;

  [[nodiscard]] const TextTable& texts() const { return texts_; }
  [[nodiscard]] std::string_view text(TextId id) const { return id == kNoText ? std::string_view() : texts_[id]; }

  [[nodiscard]] Shape shape(RecordedValue value) const;
  [[nodiscard]] std::optional<std::int64_t> integer(RecordedValue value) const;
  [[nodiscard]] std::optional<double> real(RecordedValue value) const;  // of an integer as well
  [[nodiscard]] std::optional<bool> boolean(RecordedValue value) const;
  [[nodiscard]] TextId text_id(RecordedValue value) const;      // kNoText: no text
  [[nodiscard]] std::size_t length(RecordedValue value) const;  // of a list or map; 0 for anything else
  [[nodiscard]] RecordedValue element(RecordedValue list, std::size_t at) const;
  [[nodiscard]] std::pair<TextId, RecordedValue> member_at(RecordedValue map, std::size_t at) const;
  [[nodiscard]] RecordedValue member(RecordedValue map, TextId name) const;  // nothing: not there, or null
  [[nodiscard]] RecordedValue member(RecordedValue map, Member name) const {
    return member(map, static_cast<TextId>(name));
  }
  [[nodiscard]] bool equal(RecordedValue left, RecordedValue right) const;
  [[nodiscard]] std::string describe(RecordedValue value) const;  // as JSON

  [[nodiscard]] std::optional<std::int64_t> token(const RecordedEvent& event) const;
  [[nodiscard]] std::optional<std::int64_t> lease_ms(const RecordedEvent& event) const;
  [[nodiscard]] std::optional<std::int64_t> permits(const RecordedEvent& event) const;
  [[nodiscard]] TextId mode(const RecordedEvent& event) const;  // "read" or "write"

  Format format = Format::jsonl;
  bool truncated = false;           // the file was cut in its last event, which was left out
  bool timed = true;                // every event has a time
  bool time_ordered = true;         // no event has an earlier time than one before it
  std::uint64_t kept_out = 0;       // events of the nemesis and of processes that have no number
  std::uint64_t ignored_lines = 0;  // lines of a log that are no operations
  std::uint64_t operations = 0;     // invocations

 private:
  friend class HistoryBuilder;
  static constexpr std::size_t kChunk = std::size_t{1} << 11U;
  static constexpr std::size_t kArenaChunk = std::size_t{1} << 13U;  // words
  struct Gap {
    std::size_t at;              // in front of this event …
    std::uint64_t kept_out = 0;  // … this many had been kept out
  };

  [[nodiscard]] const std::uint64_t* arena(RecordedValue value) const;

  TextTable texts_;
  std::vector<std::unique_ptr<RecordedEvent[]>> chunks_;
  std::size_t size_ = 0;
  std::vector<Gap> gaps_;
  std::vector<std::unique_ptr<std::uint64_t[]>> arena_;  // lists: length, elements; maps: length, names and values
};

// Calls visit(invocation, completion) for each operation: first those that completed, in that order, then those that
// never did, with a null completion, by process.
template <typename Visit>
void for_each_operation(const RecordedHistory& history, Visit visit) {
  std::unordered_map<std::int32_t, std::size_t> open;
  for (std::size_t at = 0; at < history.size(); ++at) {
    const RecordedEvent& event = history[at];
    if (event.note) continue;
    if (event.type == EventType::invoke) {
      open.emplace(event.process, at);
    } else if (const auto found = open.find(event.process); found != open.end()) {
      visit(history[found->second], &event);
      open.erase(found);
    }
  }
  std::vector<std::pair<std::int32_t, std::size_t>> rest(open.begin(), open.end());
  std::sort(rest.begin(), rest.end());
  for (const auto& [process, at] : rest) visit(history[at], static_cast<const RecordedEvent*>(nullptr));
}

}  // namespace holdfast::formats
