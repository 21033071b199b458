#include "checkers/objects/fence_gaps.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace holdfast::objects {

namespace {

constexpr Instant kBegin = std::numeric_limits<Instant>::min();

Instant gap_begin(const std::vector<KnownGrant>& known, std::size_t gap) {
  return gap == 0 ? kBegin : known[gap - 1].to;
}
Instant gap_end(const std::vector<KnownGrant>& known, std::size_t gap) {
  return gap == known.size() ? kNever : known[gap].from;
}

}  // namespace

std::optional<GapFailure> fill_gaps(const std::vector<KnownGrant>& known, std::vector<UnseenGrant>& unseen,
                                    FenceRule rule) {
  std::ranges::sort(unseen, {}, &UnseenGrant::from);
  using Deadline = std::pair<Instant, std::uint32_t>;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> due;
  std::vector<std::uint32_t> spare;
  std::size_t next = 0;
  for (std::uint32_t gap = 0; gap <= known.size(); ++gap) {
    const bool last = gap == known.size();
    for (; next < unseen.size() && unseen[next].from <= gap_end(known, gap); ++next) {
      if (unseen[next].optional) {
        spare.push_back(static_cast<std::uint32_t>(next));
      } else {
        due.emplace(unseen[next].to, static_cast<std::uint32_t>(next));
      }
    }
    if (!due.empty() && due.top().first < gap_begin(known, gap)) return GapFailure{gap, due.top().second};
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    if (!last) room = known[gap].token - (gap == 0 ? 0 : known[gap - 1].token) - 1;
    for (; room > 0 && !due.empty(); --room) {
      unseen[due.top().second].gap = gap;
      due.pop();
    }
    if (last || rule != FenceRule::by_one) continue;
    for (; room > 0 && !spare.empty(); --room) {
      unseen[spare.back()].gap = gap;
      spare.pop_back();
    }
    if (room > 0) return GapFailure{gap, std::nullopt};
  }
  return std::nullopt;
}

std::vector<std::uint32_t> crowd_around(const std::vector<KnownGrant>& known, const std::vector<UnseenGrant>& unseen,
                                        const GapFailure& failure) {
  std::vector<std::vector<std::uint32_t>> served(failure.gap + std::size_t{1});
  for (std::uint32_t i = 0; i < unseen.size(); ++i) {
    if (unseen[i].gap <= failure.gap) served[unseen[i].gap].push_back(i);
  }
  std::vector<std::uint32_t> holds{unseen[*failure.left_out].hold};
  Instant earliest = unseen[*failure.left_out].from;
  for (std::size_t gap = failure.gap; gap-- > 0;) {
    if (gap < known.size()) holds.push_back(known[gap].hold);
    if (known[gap].from < earliest) break;  // nobody of the crowd can be served before this one
    for (const std::uint32_t each : served[gap]) {
      holds.push_back(unseen[each].hold);
      earliest = std::min(earliest, unseen[each].from);
    }
    if (gap > 0) holds.push_back(known[gap - 1].hold);
  }
  return holds;
}

}  // namespace holdfast::objects
