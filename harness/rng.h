// Random numbers that depend on the seed alone (SplitMix64), never on timing or on the standard library's
// distributions, which differ between implementations. Each part of a run splits off a stream of its own, so that
// one lane's draws do not depend on how fast another lane runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast {

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return mix(state_);
  }
  // Uniform in [0, bound); bound must be positive. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
  }
  constexpr double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }  // [0, 1)
  constexpr bool chance(double probability) { return unit() < probability; }

  // An independent stream named by a string and a number.
  [[nodiscard]] constexpr Rng split(std::string_view name, std::uint64_t number = 0) const {
    std::uint64_t hash = mix(state_ ^ 0xA0761D6478BD642FU);
    for (const char character : name) hash = mix(hash ^ static_cast<std::uint8_t>(character));
    return Rng(mix(hash + number * 0xE7037ED1A0B428DBU));
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

}  // namespace holdfast
