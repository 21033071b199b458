#include "harness/network.h"

#include <algorithm>

#include "harness/error.h"

namespace holdfast {

namespace {

double either(double a, double b) {
  return 1 - (1 - a) * (1 - b);
}

}  // namespace

LinkPolicy on_top(const LinkPolicy& lower, const LinkPolicy& upper) {
  LinkPolicy both;
  both.cut = lower.cut || upper.cut;
  both.reset = lower.reset || upper.reset;
  both.delay = lower.delay + upper.delay;
  both.jitter = lower.jitter + upper.jitter;
  both.spread = upper.jitter.count() > 0 ? upper.spread : lower.spread;
  both.loss = either(lower.loss, upper.loss);
  both.duplicate = either(lower.duplicate, upper.duplicate);
  both.reorder = either(lower.reorder, upper.reorder);
  both.reorder_by = std::max(lower.reorder_by, upper.reorder_by);
  both.corrupt = either(lower.corrupt, upper.corrupt);
  both.corrupt_unseen = lower.corrupt_unseen || upper.corrupt_unseen;
  both.bits_per_second = std::min(lower.bits_per_second, upper.bits_per_second);
  if (both.bits_per_second == 0) both.bits_per_second = std::max(lower.bits_per_second, upper.bits_per_second);
  return both;
}

LinkCounts& LinkCounts::operator+=(const LinkCounts& other) {
  seen += other.seen;
  forwarded += other.forwarded;
  dropped += other.dropped;
  duplicated += other.duplicated;
  delayed += other.delayed;
  reordered += other.reordered;
  corrupted += other.corrupted;
  resets += other.resets;
  lost += other.lost;
  return *this;
}

LinkCounts LinkCounts::since(const LinkCounts& before) const {
  // A network that starts counting anew at each cut must not look as if it had counted backwards.
  const auto grown = [](std::uint64_t now, std::uint64_t then) { return now >= then ? now - then : now; };
  return {.seen = grown(seen, before.seen),
          .forwarded = grown(forwarded, before.forwarded),
          .dropped = grown(dropped, before.dropped),
          .duplicated = grown(duplicated, before.duplicated),
          .delayed = grown(delayed, before.delayed),
          .reordered = grown(reordered, before.reordered),
          .corrupted = grown(corrupted, before.corrupted),
          .resets = grown(resets, before.resets),
          .lost = grown(lost, before.lost)};
}

Network::Layer Network::impose(std::vector<ShapedLink> links) {
  const std::lock_guard lock(layers_mutex_);
  const Layer layer = ++last_layer_;
  layers_[layer] = std::move(links);
  try {
    apply();
  } catch (...) {
    layers_.erase(layer);
    throw;
  }
  return layer;
}

void Network::lift(Layer layer) {
  const std::lock_guard lock(layers_mutex_);
  if (layers_.erase(layer) > 0) apply();
}

void Network::apply() {
  std::map<Link, LinkPolicy> merged;
  for (const auto& [layer, links] : layers_) {
    for (const ShapedLink& shaped : links) {
      LinkPolicy& policy = merged[shaped.link];
      policy = on_top(policy, shaped.policy);
    }
  }
  std::vector<ShapedLink> all;
  all.reserve(merged.size());
  for (const auto& [link, policy] : merged) all.push_back({link, policy});
  shape(all);
}

LinkCounts Network::counts(std::span<const Link> /*links*/) {
  return {.dropped = dropped()};
}

void Network::shape(std::span<const ShapedLink> links) {
  std::vector<CutLink> cuts;
  for (const ShapedLink& shaped : links) {
    if (shaped.policy != LinkPolicy{.cut = true}) throw Error("this cluster's network can cut links and nothing else");
    cuts.push_back(shaped.link);
  }
  cut(cuts);
}

}  // namespace holdfast
