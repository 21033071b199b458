#include "bench/checkers/generate.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace holdfast::bench {

namespace {

constexpr std::array<std::string_view, kFamilies> kNames = {"register", "register-few", "cas-register", "cas-refused",
                                                            "kv",       "mutex",        "reentrant",    "lease",
                                                            "rw",       "semaphore",    "queue",        "reuse"};

}  // namespace

std::string_view to_string(Family family) {
  return kNames.at(static_cast<std::size_t>(family));
}

std::optional<Family> family_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Family>(found - kNames.begin());
}

Generated generate(const Recipe& recipe) {
  if (recipe.clients < 2) throw std::invalid_argument("a history without concurrency: give at least two clients");
  if (recipe.unknown < 0 || recipe.unknown > 0.5) throw std::invalid_argument("the unknown fraction is 0 … 0.5");
  switch (recipe.family) {
    case Family::register_:
    case Family::register_few:
    case Family::cas_register:
    case Family::cas_refused:
    case Family::kv:
    case Family::queue:
      return generate_values(recipe);
    case Family::mutex:
    case Family::reentrant:
    case Family::rw:
    case Family::semaphore:
    case Family::reuse:
      return generate_locks(recipe);
    case Family::lease:
      break;
  }
  return generate_leases(recipe);
}

}  // namespace holdfast::bench
