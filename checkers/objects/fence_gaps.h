// Grants of which nobody saw the token, placed in the gaps between those whose tokens are known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/objects/decision.h"

namespace holdfast::objects {

struct KnownGrant {
  Instant from = 0;
  Instant to = 0;
  std::int64_t token = 0;
  std::uint32_t hold = 0;
};

struct UnseenGrant {
  Instant from = 0;
  Instant to = 0;
  std::uint32_t hold = 0;
  bool optional = false;      // need not have been
  std::uint32_t gap = kNone;  // where it was placed: the gap before known grant number `gap`
};

struct GapFailure {
  std::uint32_t gap = 0;
  std::optional<std::uint32_t> left_out;  // the grant that found no place; none: too few to fill the gap
};

// `known` is in time order with growing tokens; sorts `unseen` and sets where each is placed (kNone: an optional one
// that did not happen). O(n log n).
std::optional<GapFailure> fill_gaps(const std::vector<KnownGrant>& known, std::vector<UnseenGrant>& unseen,
                                    FenceRule rule);

// The holds that together leave no place for `left_out`: going back over full gaps as long as one that was served there
// could have been served earlier.
std::vector<std::uint32_t> crowd_around(const std::vector<KnownGrant>& known, const std::vector<UnseenGrant>& unseen,
                                        const GapFailure& failure);

}  // namespace holdfast::objects
