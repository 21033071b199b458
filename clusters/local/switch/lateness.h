// How much later than they were due delayed frames left: a histogram whose buckets are an eighth of their value wide.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace holdfast {

class Lateness {
 public:
  void add(std::chrono::nanoseconds late) {
    const auto value = static_cast<std::uint64_t>(late.count() > 0 ? late.count() : 0);
    ++buckets_.at(bucket_of(value));
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // At most one frame in 1 / (1 - share) was later than this; the upper end of its bucket.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      passed += buckets_.at(i);
      if (passed > wanted || (passed == count_ && count_ > 0)) {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(upper_end(i)));
      }
    }
    return {};
  }

 private:
  static constexpr unsigned kParts = 3;                                          // 2^3 buckets for each doubling
  static constexpr std::size_t kBuckets = (std::size_t{41} - kParts) << kParts;  // up to 18 minutes
  static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < (1U << kParts)) return value;
    const auto doublings = static_cast<unsigned>(std::bit_width(value)) - 1 - kParts;
    const std::size_t index = ((std::size_t{doublings} + 1) << kParts) + ((value >> doublings) & ((1U << kParts) - 1));
    return index < kBuckets ? index : kBuckets - 1;
  }
  static constexpr std::uint64_t upper_end(std::size_t index) {
    if (index < (1U << kParts)) return index;
    const std::size_t doublings = (index >> kParts) - 1;
    return ((((index & ((1U << kParts) - 1)) | (1U << kParts)) + 1) << doublings) - 1;
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
};

}  // namespace holdfast
