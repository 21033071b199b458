// The parts behind porcupine.h: partitions, threads, and the result in the caller's terms.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <unordered_map>

#include "checkers/porcupine/porcupine.h"

namespace holdfast::porcupine {

namespace internal {

template <Model M>
std::vector<std::vector<std::uint32_t>> groups_of(const M& model, std::span<const Operation<M>> operations) {
  if constexpr (HasPartition<M>) {
    std::vector<std::vector<std::uint32_t>> groups = model.partition(operations);
    std::ranges::stable_sort(groups, std::greater<>{}, &std::vector<std::uint32_t>::size);
    return groups;
  }
  std::vector<std::uint32_t> all(operations.size());
  std::iota(all.begin(), all.end(), 0U);
  return {std::move(all)};
}

// Why the first illegal return is illegal after the first of the partial orders.
template <Model M>
std::string explanation(const M& model, std::span<const Operation<M>> operations, const Result& result) {
  if constexpr (HasExplain<M>) {
    if (result.partial.empty()) return {};
    typename M::State state = model.init();
    for (const std::uint32_t number : result.partial.front()) {
      std::optional<typename M::State> next = model.step(state, operations[number].input, operations[number].known());
      if (!next) return {};
      state = std::move(*next);
    }
    const Operation<M>& culprit = operations[*result.first_illegal_return];
    return model.explain(state, culprit.input, culprit.known());
  }
  return {};
}

template <Model M>
Result check_group(const M& model, std::span<const Operation<M>> operations, std::span<const std::uint32_t> numbers,
                   Budget& budget, const RaceOptions& options) {
  const Problem<M> problem(model, operations, numbers);
  Account account(budget);
  account.set(problem.bytes());
  if constexpr (HasCell<M>) {
    if (problem.facts().hopeless != kNone) {
      Result result{.verdict = Verdict::illegal,
                    .first_illegal_return = problem.timeline().op(problem.facts().hopeless).original,
                    .proven_until = problem.instant(0),
                    .reason = "it found what nobody could have left there"};
      return result;
    }
  }
  RaceResult raced = race(problem, budget, options);
  Result result;
  result.statistics.configurations = raced.configurations;
  switch (raced.status) {
    case Status::ok:
      if (options.want_paths) result.witness = problem.translate(raced.paths.front());
      return result;
    case Status::illegal:
      result.verdict = Verdict::illegal;
      result.first_illegal_return = problem.timeline().op(problem.timeline().op_at(raced.proven)).original;
      for (const Trail& path : raced.paths) result.partial.push_back(problem.translate(path));
      result.reason = explanation(model, operations, result);
      break;
    default:
      result.verdict = Verdict::unknown;
      result.reason = raced.status == Status::out_of_time ? "the time ran out" : "the memory ran out";
      if (problem.timeline().slots() > kMostPending) {
        result.reason = "more than " + std::to_string(kMostPending) + " operations are pending at once";
      }
  }
  result.proven_until = problem.instant(raced.proven);
  return result;
}

// One order of all objects from one order of each: every operation at the earliest instant its object's order allows.
template <Model M>
std::vector<std::uint32_t> merged(std::span<const Operation<M>> operations, const std::vector<Result>& results) {
  if (results.size() == 1) return results.front().witness;
  std::vector<std::pair<Instant, std::uint32_t>> timed;
  for (const Result& result : results) {
    Instant now = std::numeric_limits<Instant>::min();
    for (const std::uint32_t number : result.witness) {
      now = std::max(now, operations[number].call);
      timed.emplace_back(now, number);
    }
  }
  std::ranges::stable_sort(timed, {}, &std::pair<Instant, std::uint32_t>::first);
  std::vector<std::uint32_t> order;
  order.reserve(timed.size());
  for (const auto& [when, number] : timed) order.push_back(number);
  return order;
}

template <Model M>
Result combined(std::span<const Operation<M>> operations, std::vector<Result>& results) {
  Result all;
  all.statistics.partitions = results.size();
  for (Result& each : results) {
    all.statistics.configurations += each.statistics.configurations;
    const bool earlier = each.proven_until && (!all.proven_until || *each.proven_until < *all.proven_until);
    const bool takes = each.verdict == Verdict::illegal
                           ? all.verdict != Verdict::illegal || earlier
                           : each.verdict == Verdict::unknown && all.verdict == Verdict::ok;
    if (takes) {
      all.verdict = each.verdict;
      all.first_illegal_return = each.first_illegal_return;
      all.partial = each.partial;
      all.reason = each.reason;
    }
    if (earlier) all.proven_until = each.proven_until;
  }
  if (all.verdict == Verdict::ok) all.witness = merged(operations, results);
  return all;
}

}  // namespace internal

template <Model M>
Result check(const M& model, std::span<const Operation<M>> operations, const Options& options) {
  Budget budget(options.stop, options.deadline, options.bytes);
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::vector<std::vector<std::uint32_t>> groups = internal::groups_of(model, operations);
  std::vector<Result> results(groups.size());
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, groups.size()));
  const RaceOptions race_options{.threads = groups.size() < threads ? threads : 1,
                                 .want_paths = options.want_witness,
                                 .searches = options.searches};
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < groups.size(); i = next++) {
      results[i] = internal::check_group(model, operations, std::span(groups[i]), budget, race_options);
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < workers; ++i) others.emplace_back(work);
    work();
  }
  Result result = internal::combined(operations, results);
  result.statistics.peak_bytes = budget.peak();
  return result;
}

template <Model M>
std::vector<std::uint32_t> relevant(const M& model, std::span<const Operation<M>> operations) {
  std::vector<std::uint32_t> result;
  for (const std::vector<std::uint32_t>& group : internal::groups_of(model, operations)) {
    const Problem<M> problem(model, operations, std::span(group));
    for (std::uint32_t i = 0; i < problem.timeline().size(); ++i) result.push_back(problem.timeline().op(i).original);
  }
  std::ranges::sort(result);
  return result;
}

template <Model M>
Result check_events(const M& model, std::span<const Event<M>> events, const Options& options) {
  std::vector<Operation<M>> operations;
  std::unordered_map<std::uint64_t, std::size_t> open;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event<M>& event = events[i];
    if (event.call) {
      open[event.id] = operations.size();
      operations.push_back({*event.call, std::nullopt, static_cast<Instant>(i), kNever, event.client});
    } else if (event.ret) {
      Operation<M>& operation = operations[open.at(event.id)];
      operation.output = event.ret;
      operation.ret = static_cast<Instant>(i);
    }
  }
  return check(model, std::span<const Operation<M>>(operations), options);
}

}  // namespace holdfast::porcupine
