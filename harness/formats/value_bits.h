// How a RecordedValue uses its 64 bits: four for the kind, sixty for the rest. Known to the history that reads values
// and to the builder that makes them, and to nobody else.
#pragma once

#include <cstdint>

#include "harness/formats/recorded.h"

namespace holdfast::formats {

enum class Kind : std::uint64_t {
  nothing,
  boolean,
  integer,       // 60 bits, signed
  text,          // its number
  pair,          // two integers of 30 bits, signed; kNoHalf: nothing
  member,        // a map of one: name in 12 bits, integer in 48, signed
  empty_list,    //
  empty_map,     //
  wide_integer,  // the rest lie in the arena: the chunk in 28 bits, the word in 32
  real,
  list,
  map
};

inline constexpr unsigned kPayloadBits = 60;
inline constexpr unsigned kHalfBits = 30;
inline constexpr unsigned kMemberBits = 48;
inline constexpr std::int64_t kNoHalf = -(std::int64_t{1} << (kHalfBits - 1));
inline constexpr TextId kMemberNames = 1U << (kPayloadBits - kMemberBits);

constexpr std::uint64_t low_bits(std::uint64_t bits, unsigned count) {
  return bits & ((std::uint64_t{1} << count) - 1);
}
constexpr std::int64_t signed_bits(std::uint64_t bits, unsigned count) {
  return static_cast<std::int64_t>(bits << (64 - count)) >> (64 - count);
}
constexpr bool fits(std::int64_t number, unsigned count) {
  return signed_bits(static_cast<std::uint64_t>(number), count) == number;
}

constexpr RecordedValue make_value(Kind kind, std::uint64_t payload) {
  return RecordedValue((static_cast<std::uint64_t>(kind) << kPayloadBits) | low_bits(payload, kPayloadBits));
}
constexpr Kind kind_of(RecordedValue value) {
  return static_cast<Kind>(value.bits() >> kPayloadBits);
}
constexpr std::uint64_t payload_of(RecordedValue value) {
  return low_bits(value.bits(), kPayloadBits);
}

constexpr RecordedValue make_integer(std::int64_t number) {  // that fits
  return make_value(Kind::integer, static_cast<std::uint64_t>(number));
}
constexpr std::int64_t integer_of(RecordedValue value) {
  return signed_bits(value.bits(), kPayloadBits);
}
constexpr RecordedValue half_value(std::int64_t half) {
  return half == kNoHalf ? RecordedValue() : make_integer(half);
}
constexpr RecordedValue first_half(RecordedValue pair) {
  return half_value(signed_bits(pair.bits() >> kHalfBits, kHalfBits));
}
constexpr RecordedValue second_half(RecordedValue pair) {
  return half_value(signed_bits(pair.bits(), kHalfBits));
}
constexpr TextId member_name(RecordedValue value) {
  return static_cast<TextId>(payload_of(value) >> kMemberBits);
}
constexpr RecordedValue member_value(RecordedValue value) {
  return make_integer(signed_bits(value.bits(), kMemberBits));
}

}  // namespace holdfast::formats
