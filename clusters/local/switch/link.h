// LinkModel: what a directed link does to each of its frames.
//
// Pure: time comes in as an argument, and the n-th frame's luck depends on the seed, the link and n alone. So a run
// with the same seed loses the same frames of a link, however fast the other links are.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "harness/network.h"
#include "harness/rng.h"

namespace holdfast {

using SwitchTime = std::chrono::nanoseconds;  // of CLOCK_MONOTONIC

struct Fate {
  bool dropped = false;
  bool duplicated = false;
  bool corrupted = false;
  std::uint64_t noise = 0;  // which byte is changed, and how
  SwitchTime due{};         // when it leaves; not later than now: at once
};

class LinkModel {
 public:
  LinkModel(std::uint64_t seed, std::size_t from, std::size_t to);

  // A frame of so many bytes is here. Counts it, and what becomes of it except for corruption, which needs its bytes.
  [[nodiscard]] Fate decide(const LinkPolicy& policy, SwitchTime now, std::size_t bytes);
  void forget_backlog();  // frames to come need not wait for earlier ones any more

  LinkCounts counts;

 private:
  struct Luck {
    double loss, duplicate, reorder, corrupt;
    std::array<double, 4> jitter;
    std::uint64_t noise;
  };
  [[nodiscard]] Luck luck_of(std::uint64_t frame) const;

  Rng stream_;
  std::uint64_t frame_ = 0;  // frames that a policy decided on
  SwitchTime line_free_{};   // the last bit of what was sent so far is on the wire
  SwitchTime last_due_{};
};

}  // namespace holdfast
