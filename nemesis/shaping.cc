#include "nemesis/shaping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/error.h"
#include "harness/nearest.h"
#include "nemesis/link_fault.h"
#include "nemesis/parameters.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;

LinkPolicy::Spread spread_of(const Parameters& given) {
  static constexpr std::array<std::string_view, 3> kSpreads = {"uniform", "normal", "tail"};
  if (given.words.size() < 2) return LinkPolicy::Spread::uniform;
  const auto* const found = std::ranges::find(kSpreads, given.words[1]);
  if (found == kSpreads.end()) {
    throw UsageError(fmt::format("{}: unknown spread \"{}\"; {}", given.fault, given.words[1],
                                 did_you_mean(given.words[1], kSpreads)));
  }
  return static_cast<LinkPolicy::Spread>(found - kSpreads.begin());
}

}  // namespace

std::unique_ptr<Fault> make_delay(const std::string& target) {
  Parameters given = split_parameters("delay", target);
  given.at_most(2);
  LinkPolicy policy{.delay = milliseconds(100), .jitter = milliseconds(20), .spread = spread_of(given)};
  if (!given.words.empty()) {
    const std::size_t wave = given.words[0].find('~');
    policy.jitter = {};
    if (wave != std::string::npos) policy.jitter = parse_length("delay", given.words[0].substr(wave + 1));
    given.words[0].resize(std::min(wave, given.words[0].size()));
    policy.delay = given.duration(0, {});
  }
  return make_link_fault(given.target, policy, {"packets_delayed", &LinkCounts::delayed});
}

std::unique_ptr<Fault> make_loss(const std::string& target) {
  const Parameters given = split_parameters("loss", target);
  given.at_most(1);
  return make_link_fault(given.target, {.loss = given.percentage(0, 0.3)}, {"packets_dropped", &LinkCounts::dropped});
}

std::unique_ptr<Fault> make_duplicate(const std::string& target) {
  const Parameters given = split_parameters("duplicate", target);
  given.at_most(1);
  return make_link_fault(given.target, {.duplicate = given.percentage(0, 0.3)},
                         {"packets_duplicated", &LinkCounts::duplicated});
}

std::unique_ptr<Fault> make_reorder(const std::string& target) {
  const Parameters given = split_parameters("reorder", target);
  given.at_most(2);
  return make_link_fault(given.target,
                         {.reorder = given.percentage(0, 0.25), .reorder_by = given.duration(1, milliseconds(10))},
                         {"packets_reordered", &LinkCounts::reordered});
}

std::unique_ptr<Fault> make_corrupt(const std::string& target) {
  const Parameters given = split_parameters("corrupt", target);
  given.at_most(2);
  return make_link_fault(given.target, {.corrupt = given.percentage(0, 0.2), .corrupt_unseen = given.flag(1, "unseen")},
                         {"packets_corrupted", &LinkCounts::corrupted});
}

std::unique_ptr<Fault> make_rate(const std::string& target) {
  const Parameters given = split_parameters("rate", target);
  given.at_most(1);
  return make_link_fault(given.target, {.bits_per_second = given.rate(0, 64'000)},
                         {"packets_delayed", &LinkCounts::delayed});
}

std::unique_ptr<Fault> make_reset(const std::string& target) {
  const Parameters given = split_parameters("reset", target);
  given.at_most(0);
  return make_link_fault(given.target, {.reset = true}, {"connections_reset", &LinkCounts::resets});
}

}  // namespace holdfast
