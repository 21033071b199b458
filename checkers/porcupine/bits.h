// A set of slots. Operations occupy a slot only while they are pending, so a few words do for any length of history.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace holdfast::porcupine {

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

template <std::size_t W>
struct Bits {
  std::array<std::uint64_t, W> word{};

  [[nodiscard]] bool test(std::uint32_t i) const { return ((word[i / 64] >> (i % 64)) & 1U) != 0; }
  void set(std::uint32_t i) { word[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear(std::uint32_t i) { word[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  [[nodiscard]] bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : word) all |= each;
    return all != 0;
  }
  [[nodiscard]] std::uint32_t count() const {
    std::uint32_t sum = 0;
    for (const std::uint64_t each : word) sum += static_cast<std::uint32_t>(std::popcount(each));
    return sum;
  }
  // Is there a bit of this set that `other` does not have?
  [[nodiscard]] bool beyond(const Bits& other) const {
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < W; ++i) rest |= word[i] & ~other.word[i];
    return rest != 0;
  }
  [[nodiscard]] Bits minus(const Bits& other) const {
    Bits result;
    for (std::size_t i = 0; i < W; ++i) result.word[i] = word[i] & ~other.word[i];
    return result;
  }
  [[nodiscard]] Bits both(const Bits& other) const {
    Bits result;
    for (std::size_t i = 0; i < W; ++i) result.word[i] = word[i] & other.word[i];
    return result;
  }
  void add(const Bits& other) {
    for (std::size_t i = 0; i < W; ++i) word[i] |= other.word[i];
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::size_t i = 0; i < W; ++i) {
      for (std::uint64_t rest = word[i]; rest != 0; rest &= rest - 1) {
        visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
      }
    }
  }
  [[nodiscard]] std::uint64_t hash(std::uint64_t seed) const {
    for (const std::uint64_t each : word) seed = mix(seed ^ each) + 0x9E3779B97F4A7C15U;
    return seed;
  }
  friend bool operator==(const Bits&, const Bits&) = default;
};

}  // namespace holdfast::porcupine
