// What a user may add to a fault's target to say how bad it is to be: "holder/80ms,tail" is the target "holder" with
// the parameters "80ms" and "tail". Whatever makes no sense is a UsageError that names the fault and shows the right
// form.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

struct Parameters {
  std::string fault;
  std::string target;
  std::vector<std::string> words;

  void at_most(std::size_t count) const;
  [[nodiscard]] std::chrono::nanoseconds duration(std::size_t index, std::chrono::nanoseconds otherwise) const;  // 80ms
  [[nodiscard]] double percentage(std::size_t index, double otherwise) const;          // "30%" is 0.3
  [[nodiscard]] std::uint64_t rate(std::size_t index, std::uint64_t otherwise) const;  // 64kbit, 10mbit
  [[nodiscard]] bool flag(std::size_t index, std::string_view name) const;             // there and exactly this word
};

Parameters split_parameters(std::string_view fault, std::string_view text);

// "80ms", "1.5s", "200us"; UsageError that begins with the fault's name.
std::chrono::nanoseconds parse_length(const std::string& fault, const std::string& text);

}  // namespace holdfast
