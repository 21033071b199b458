// TextTable: every text of a recorded history once, under a small number.
//
// Finding or adding a text is one hash and, nearly always, one comparison; views stay valid while the table lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace holdfast::formats {

using TextId = std::uint32_t;
inline constexpr TextId kNoText = std::numeric_limits<TextId>::max();

class TextTable {
 public:
  TextTable();

  TextId intern(std::string_view text);
  [[nodiscard]] TextId find(std::string_view text) const;  // kNoText: nowhere in the history
  [[nodiscard]] std::string_view operator[](TextId id) const { return {entries_[id].data, entries_[id].size}; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
  };

  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  const char* keep(std::string_view text);
  void widen();

  std::vector<Entry> entries_;
  std::vector<TextId> slots_;                   // open addressing; kNoText: free
  std::vector<std::unique_ptr<char[]>> pages_;  // never moved: views point into them
  char* room_ = nullptr;                        // what is left of the last page
  std::size_t room_size_ = 0;
};

}  // namespace holdfast::formats
