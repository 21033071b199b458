#include "harness/formats/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "harness/formats/value_bits.h"

namespace holdfast::formats {

namespace {

constexpr std::array<std::string_view, kMembers> kMemberTexts = {"hold",    "token", "lease_ms",
                                                                 "permits", "mode",  "value"};

}  // namespace

std::string_view to_string(Format format) {
  static constexpr std::array<std::string_view, 3> kNames = {"history.jsonl", "EDN", "Jepsen log"};
  return kNames.at(static_cast<std::size_t>(format));
}

RecordedHistory::RecordedHistory() {
  for (const std::string_view name : kMemberTexts) texts_.intern(name);
}

std::uint64_t RecordedHistory::ordinal(std::size_t at) const {
  const auto behind = std::upper_bound(gaps_.begin(), gaps_.end(), at,
                                       [](std::size_t position, const Gap& gap) { return position < gap.at; });
  return at + (behind == gaps_.begin() ? 0 : std::prev(behind)->kept_out);
}

const std::uint64_t* RecordedHistory::arena(RecordedValue value) const {
  return arena_[payload_of(value) >> 32U].get() + low_bits(value.bits(), 32);
}

Shape RecordedHistory::shape(RecordedValue value) const {
  switch (kind_of(value)) {
    case Kind::nothing:
      return Shape::nothing;
    case Kind::boolean:
      return Shape::boolean;
    case Kind::integer:
    case Kind::wide_integer:
      return Shape::integer;
    case Kind::real:
      return Shape::real;
    case Kind::text:
      return Shape::text;
    case Kind::pair:
    case Kind::empty_list:
    case Kind::list:
      return Shape::list;
    case Kind::member:
    case Kind::empty_map:
    case Kind::map:
      return Shape::map;
  }
  return Shape::nothing;
}

std::optional<std::int64_t> RecordedHistory::integer(RecordedValue value) const {
  if (kind_of(value) == Kind::integer) return integer_of(value);
  if (kind_of(value) == Kind::wide_integer) return static_cast<std::int64_t>(*arena(value));
  return std::nullopt;
}

std::optional<double> RecordedHistory::real(RecordedValue value) const {
  if (kind_of(value) == Kind::real) return std::bit_cast<double>(*arena(value));
  if (const auto whole = integer(value)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<bool> RecordedHistory::boolean(RecordedValue value) const {
  if (kind_of(value) != Kind::boolean) return std::nullopt;
  return payload_of(value) != 0;
}

TextId RecordedHistory::text_id(RecordedValue value) const {
  return kind_of(value) == Kind::text ? static_cast<TextId>(payload_of(value)) : kNoText;
}

std::size_t RecordedHistory::length(RecordedValue value) const {
  switch (kind_of(value)) {
    case Kind::pair:
      return 2;
    case Kind::member:
      return 1;
    case Kind::list:
    case Kind::map:
      return *arena(value);
    default:
      return 0;
  }
}

RecordedValue RecordedHistory::element(RecordedValue list, std::size_t at) const {
  if (kind_of(list) == Kind::pair) return at == 0 ? first_half(list) : second_half(list);
  return RecordedValue(arena(list)[1 + at]);
}

std::pair<TextId, RecordedValue> RecordedHistory::member_at(RecordedValue map, std::size_t at) const {
  if (kind_of(map) == Kind::member) return {member_name(map), member_value(map)};
  const std::uint64_t* const words = arena(map) + 1 + 2 * at;
  return {static_cast<TextId>(words[0]), RecordedValue(words[1])};
}

RecordedValue RecordedHistory::member(RecordedValue map, TextId name) const {
  if (shape(map) != Shape::map) return {};
  for (std::size_t at = length(map); at-- > 0;) {  // from the end: of two members with one name the last one counts
    const auto [here, value] = member_at(map, at);
    if (here == name) return value;
  }
  return {};
}

bool RecordedHistory::equal(RecordedValue left, RecordedValue right) const {
  if (left == right) return true;
  const Shape kind = shape(left);
  if (kind != shape(right)) return false;
  if (kind == Shape::integer) return integer(left) == integer(right);
  if (kind == Shape::real) return real(left) == real(right);
  if (kind != Shape::list && kind != Shape::map) return false;
  const std::size_t count = length(left);
  if (count != length(right)) return false;
  for (std::size_t at = 0; at < count; ++at) {
    if (kind == Shape::list) {
      if (!equal(element(left, at), element(right, at))) return false;
    } else {
      const auto [name, value] = member_at(left, at);
      if (!equal(value, member(right, name))) return false;
    }
  }
  return true;
}

std::string RecordedHistory::describe(RecordedValue value) const {
  std::string out;
  switch (shape(value)) {
    case Shape::nothing:
      return "null";
    case Shape::boolean:
      return *boolean(value) ? "true" : "false";
    case Shape::integer:
      return fmt::format("{}", *integer(value));
    case Shape::real:
      out = fmt::format("{}", *real(value));
      return std::isfinite(*real(value)) ? out : '"' + out + '"';
    case Shape::text:
      append_json_text(out, text(text_id(value)));
      return out;
    case Shape::list:
      for (std::size_t at = 0; at < length(value); ++at) {
        out += at == 0 ? "[" : ",";
        out += describe(element(value, at));
      }
      return out.empty() ? "[]" : out + "]";
    case Shape::map:
      for (std::size_t at = 0; at < length(value); ++at) {
        const auto [name, part] = member_at(value, at);
        out += at == 0 ? "{" : ",";
        append_json_text(out, text(name));
        out += ":" + describe(part);
      }
      return out.empty() ? "{}" : out + "}";
  }
  return out;
}

std::optional<std::int64_t> RecordedHistory::token(const RecordedEvent& event) const {
  return integer(member(event.value, Member::token));
}

std::optional<std::int64_t> RecordedHistory::lease_ms(const RecordedEvent& event) const {
  return integer(member(event.value, Member::lease_ms));
}

std::optional<std::int64_t> RecordedHistory::permits(const RecordedEvent& event) const {
  return integer(member(event.value, Member::permits));
}

TextId RecordedHistory::mode(const RecordedEvent& event) const {
  return text_id(member(event.value, Member::mode));
}

}  // namespace holdfast::formats
