// Frames on their way, by the time at which they are due; those due at the same time leave in the order they came.
// Buffers are used again: after a while nothing is allocated.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "clusters/local/switch/link.h"

namespace holdfast {

constexpr std::size_t kFrameLimit = 2048;  // an Ethernet frame of 1500 bytes with room for tags

class DelayQueue {
 public:
  struct Entry {
    SwitchTime due{};
    std::uint64_t number = 0;
    std::size_t link = 0;
    std::size_t size = 0;
    std::unique_ptr<std::array<std::uint8_t, kFrameLimit>> bytes;
    [[nodiscard]] std::span<const std::uint8_t> frame() const { return {bytes->data(), size}; }
  };

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] SwitchTime next_due() const { return heap_.front().due; }

  // False: too many are on their way already, this one is not taken.
  bool push(SwitchTime due, std::size_t link, std::span<const std::uint8_t> frame) {
    if (heap_.size() >= kLimit) return false;
    Entry entry{.due = due, .number = ++count_, .link = link, .size = frame.size()};
    if (free_.empty()) {
      entry.bytes = std::make_unique<std::array<std::uint8_t, kFrameLimit>>();
    } else {
      entry.bytes = std::move(free_.back());
      free_.pop_back();
    }
    std::memcpy(entry.bytes->data(), frame.data(), frame.size());
    heap_.push_back(std::move(entry));
    std::push_heap(heap_.begin(), heap_.end(), later);
    return true;
  }

  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Entry entry = std::move(heap_.back());
    heap_.pop_back();
    return entry;
  }
  void give_back(Entry entry) { free_.push_back(std::move(entry.bytes)); }

  // Frames of links for which `freed(link)` holds are due at once.
  template <typename Predicate>
  void release(SwitchTime now, const Predicate& freed) {
    for (Entry& entry : heap_) {
      if (entry.due > now && freed(entry.link)) entry.due = now;
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  static constexpr std::size_t kLimit = std::size_t{1} << 16U;
  static bool later(const Entry& a, const Entry& b) { return a.due != b.due ? a.due > b.due : a.number > b.number; }

  std::vector<Entry> heap_;
  std::vector<std::unique_ptr<std::array<std::uint8_t, kFrameLimit>>> free_;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast
