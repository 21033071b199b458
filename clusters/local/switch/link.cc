#include "clusters/local/switch/link.h"

#include <algorithm>
#include <cmath>

namespace holdfast {

namespace {

// A line that is this far behind drops what comes next, as a router with a full buffer does.
constexpr SwitchTime kBacklog = std::chrono::seconds(1);

// In units of the jitter; arithmetic alone where possible, so that it is the same everywhere.
double spread(LinkPolicy::Spread kind, const std::array<double, 4>& draws) {
  switch (kind) {
    case LinkPolicy::Spread::uniform:
      return 2 * draws[0] - 1;
    case LinkPolicy::Spread::normal:  // the sum of four even draws has variance 1/3 and is a bell to the eye
      return (draws[0] + draws[1] + draws[2] + draws[3] - 2) * std::sqrt(3.0);
    case LinkPolicy::Spread::tail:
      return -std::log1p(-draws[0]);
  }
  return 0;
}

}  // namespace

LinkModel::LinkModel(std::uint64_t seed, std::size_t from, std::size_t to)
    : stream_(Rng(seed).split("link", (static_cast<std::uint64_t>(from) << 32U) | to)) {}

// Everything is drawn for every frame, in this order, whatever the policy asks for: adding loss to a delay does not
// change the delays.
LinkModel::Luck LinkModel::luck_of(std::uint64_t frame) const {
  Rng rng = stream_.split("frame", frame);
  Luck luck{};
  luck.loss = rng.unit();
  luck.duplicate = rng.unit();
  luck.reorder = rng.unit();
  luck.corrupt = rng.unit();
  for (double& draw : luck.jitter) draw = rng.unit();
  luck.noise = rng.next();
  return luck;
}

Fate LinkModel::decide(const LinkPolicy& policy, SwitchTime now, std::size_t bytes) {
  ++counts.seen;
  const Luck luck = luck_of(frame_++);
  Fate fate{.noise = luck.noise, .due = now};
  fate.dropped = policy.cut || luck.loss < policy.loss;
  if (!fate.dropped && policy.bits_per_second > 0) {
    const SwitchTime start = std::max(now, line_free_);
    fate.dropped = start - now > kBacklog;
    if (!fate.dropped) {
      line_free_ = start + SwitchTime(static_cast<std::int64_t>(bytes * 8 * std::nano::den / policy.bits_per_second));
      fate.due = line_free_;
    }
  }
  if (fate.dropped) {
    ++counts.dropped;
    return fate;
  }
  if (policy.delay.count() > 0 || policy.jitter.count() > 0) {
    const double jitter = static_cast<double>(policy.jitter.count()) * spread(policy.spread, luck.jitter);
    fate.due += std::max(SwitchTime{}, policy.delay + SwitchTime(std::llround(jitter)));
  }
  if (luck.reorder < policy.reorder) {
    fate.due += policy.reorder_by;
    ++counts.reordered;
  } else {
    fate.due = std::max(fate.due, last_due_);
    last_due_ = fate.due;
  }
  if (fate.due > now) ++counts.delayed;
  fate.duplicated = luck.duplicate < policy.duplicate;
  if (fate.duplicated) ++counts.duplicated;
  fate.corrupted = luck.corrupt < policy.corrupt;
  return fate;
}

void LinkModel::forget_backlog() {
  line_free_ = {};
  last_due_ = {};
}

}  // namespace holdfast
