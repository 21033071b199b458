#include "harness/formats/text_table.h"

#include <cstring>
#include <functional>

#include "harness/error.h"

namespace holdfast::formats {

namespace {

constexpr std::size_t kFirstSlots = 256;
constexpr std::size_t kPage = std::size_t{1} << 20;

std::uint32_t hash_of(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace

TextTable::TextTable() : slots_(kFirstSlots, kNoText) {}

std::size_t TextTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const TextId id = slots_[slot];
    if (id == kNoText) return slot;
    const Entry& entry = entries_[id];
    if (entry.hash == hash && entry.size == text.size() && std::memcmp(entry.data, text.data(), text.size()) == 0) {
      return slot;
    }
  }
}

TextId TextTable::find(std::string_view text) const {
  return slots_[slot_of(text, hash_of(text))];
}

TextId TextTable::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != kNoText) return slots_[slot];
  if ((entries_.size() + 1) * 2 > slots_.size()) {
    widen();
    slot = slot_of(text, hash);
  }
  HOLDFAST_CHECK(entries_.size() < kNoText, "texts are numbered with 32 bits");
  const auto id = static_cast<TextId>(entries_.size());
  entries_.push_back({keep(text), static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = id;
  return id;
}

const char* TextTable::keep(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > kPage / 4) {  // a page of its own; the last page keeps its room
    pages_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
    std::memcpy(pages_.back().get(), text.data(), text.size());
    return pages_.back().get();
  }
  if (room_size_ < text.size()) {
    pages_.push_back(std::make_unique_for_overwrite<char[]>(kPage));
    room_ = pages_.back().get();
    room_size_ = kPage;
  }
  char* const place = room_;
  std::memcpy(place, text.data(), text.size());
  room_ += text.size();
  room_size_ -= text.size();
  return place;
}

void TextTable::widen() {
  std::vector<TextId> wider(slots_.size() * 2, kNoText);
  const std::size_t mask = wider.size() - 1;
  for (TextId id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & mask;
    while (wider[slot] != kNoText) slot = (slot + 1) & mask;
    wider[slot] = id;
  }
  slots_ = std::move(wider);
}

}  // namespace holdfast::formats
