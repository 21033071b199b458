#include "checkers/objects/mutex_attempts.h"

#include <algorithm>

#include "checkers/objects/mutex_witness.h"

namespace holdfast::objects::locks {

namespace {

bool is_attempt(const Operation& operation) {
  return operation.f == Call::acquire && operation.refused();
}

// Refused acquires whose place among the operations of their process the clock tells. An unknown request before one, in
// an ordered session, takes effect before it or never: that is more than shortest holds know.
std::vector<bool> plain_attempts(const Promise& promise, Operations operations) {
  const bool ordered = promise.identity != Identity::hold;
  const Owners processes(operations, false);
  Numbers last(processes.size(), kNone);  // the last operation, where sessions are not ordered the last known one
  std::vector<bool> plain(operations.size());
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    std::uint32_t& before = last[processes.of(operation)];
    if (is_attempt(operation)) plain[i] = operation.call < operation.ret;
    if (before != kNone) {
      const Operation& other = operations[before];
      if (other.unknown() || other.ret >= operation.call) plain[i] = false;
      if (!operation.unknown() && other.ret >= operation.call) plain[before] = false;
    }
    if (ordered || !operation.unknown()) before = i;
  }
  return plain;
}

// Leaves the core as it is where too much would have to be searched.
void minimise_by_search(const Promise& promise, Operations operations, Numbers& core, const Limits& limits) {
  constexpr std::size_t kMostToSearch = 4096;
  Instant end = std::numeric_limits<Instant>::min();
  for (const std::uint32_t member : core) end = std::max(end, operations[member].ret);
  Numbers part;
  for (std::uint32_t i = 0; i < operations.size() && operations[i].call <= end; ++i) part.push_back(i);
  if (part.size() > kMostToSearch) return;
  Limits quick = limits;
  quick.witness = false;
  quick.minimal_core = false;
  const auto impossible = [&](Operations weakened) {
    return search(promise, weakened, quick).answer == Answer::violation;
  };
  minimise(operations, part, core, impossible, limits);
  std::ranges::sort(core);
}

class Attempts {
 public:
  Attempts(const Promise& promise, Operations operations, const Owners& owners, Holds& holds, const Limits& limits)
      : promise_(promise),
        operations_(operations),
        owners_(owners),
        holds_(holds),
        limits_(limits),
        plain_(plain_attempts(promise, operations)) {}

  Decision run() {
    Numbers open;
    for (const std::uint32_t attempt : holds_.attempts) {
      if (!plain_[attempt] || !sight(attempt)) open.push_back(attempt);
    }
    if (!open.empty()) {
      cuts_ = stretches(promise_, operations_, owners_, promise_.reentrancy);
      for (auto next = open.begin(); next != open.end();) {
        if (limits_.reached()) return out_of_limits("the time");
        const auto cut = std::ranges::upper_bound(cuts_, *next);
        const std::uint32_t begin = *(cut - 1);
        const std::uint32_t end = *cut;
        const auto last = std::find_if(next, open.end(), [end](std::uint32_t attempt) { return attempt >= end; });
        if (auto decision = decide_stretch(begin, end, {next, last})) return std::move(*decision);
        next = last;
      }
    }
    return possible();
  }

 private:
  // Finds a core in which this attempt saw the lock held.
  bool sight(std::uint32_t attempt) {
    const Operation& operation = operations_[attempt];
    const auto& cores = holds_.cores;
    auto core = std::ranges::lower_bound(cores, operation.call, {}, &Hold::last_request);
    for (; core != cores.end() && core->first_answer <= operation.ret; ++core) {
      // Its own hold it sees between its own operations only.
      const bool own = operations_[core->first].process == operation.process;
      if (own && (attempt < core->first || attempt > core->last) && core->last_request != kNever) continue;
      if (own && attempt < core->first) continue;
      sightings_.push_back({.core = static_cast<std::uint32_t>(core - cores.begin()),
                            .attempt = attempt,
                            .time = std::max(operation.call, core->first_answer)});
      return true;
    }
    return false;
  }

  // Nothing: the stretch is possible.
  std::optional<Decision> decide_stretch(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> open) {
    if (stretches_far(begin, end)) {
      stretch(begin, end);
      const auto blind = std::ranges::find_if_not(open, [this](std::uint32_t attempt) { return sight(attempt); });
      if (blind == open.end()) return std::nullopt;
      if (all_over(begin, end, operations_[*blind])) return nobody_held(*blind);
    }
    Decision found = search_stretch(promise_, operations_, begin, end, limits_);
    searched_ += end - begin;
    if (found.answer == Answer::violation) {
      return phantom(promise_, operations_, owners_, promise_.reentrancy, std::move(found), begin, limits_);
    }
    if (found.answer == Answer::undecided) {
      if (begin > 0) found.proven_until = operations_[begin].call;
      return found;
    }
    found_.emplace_back(begin, end, std::move(found.witness));
    return std::nullopt;
  }

  // Is every hold of this stretch certain, and can each be made as long as its requests allow?
  bool stretches_far(std::uint32_t begin, std::uint32_t end) {
    if (promise_.reentrancy != 1) return false;
    const auto point = std::ranges::partition_point(holds_.points, [&](const Hold& each) { return each.last < begin; });
    if (point != holds_.points.end() && point->last < end) return false;
    released_.resize(owners_.size(), kNone);  // in which stretch an owner's last operation is an unknown release
    for (std::uint32_t i = begin; i < end; ++i) {
      const Operation& operation = operations_[i];
      if (is_attempt(operation)) {
        if (!plain_[i]) return false;
        continue;
      }
      const std::uint32_t owner = owners_.of(operation);
      if (operation.f == Call::acquire && operation.unknown()) return false;
      if (operation.refused() && released_[owner] == begin) return false;
      released_[owner] = operation.unknown() ? begin : kNone;
    }
    return true;
  }

  void stretch(std::uint32_t begin, std::uint32_t end) {
    auto& cores = holds_.cores;
    Instant free_since = std::numeric_limits<Instant>::min();
    const auto first = std::ranges::partition_point(cores, [&](const Hold& each) { return each.first < begin; });
    for (auto i = static_cast<std::size_t>(first - cores.begin()); i < cores.size() && cores[i].first < end; ++i) {
      Hold& core = cores[i];
      core.first_answer = std::max(operations_[core.first].call, free_since);
      if (core.last_request == kNever) break;
      const Operation& release = operations_[core.last];
      core.last_request = std::min(release.unknown() ? kNever - 1 : release.ret,
                                   i + 1 < cores.size() ? cores[i + 1].first_answer : kNever - 1);
      free_since = core.last_request;
    }
  }

  // Was every hold of this stretch that was asked for in time certainly over when the attempt was made?
  bool all_over(std::uint32_t begin, std::uint32_t end, const Operation& attempt) {
    const auto& cores = holds_.cores;
    auto core = std::ranges::partition_point(cores, [&](const Hold& each) { return each.first < begin; });
    std::vector<bool> over(owners_.size(), true);
    for (; core != cores.end() && core->first < end; ++core) {
      if (operations_[core->first].call > attempt.ret) continue;
      const bool released = core->last_request != kNever && operations_[core->last].ret < attempt.call;
      over[owners_.of(operations_[core->first])] = released;
    }
    return std::ranges::find(over, false) == over.end();
  }

  Decision nobody_held(std::uint32_t attempt) {
    const Operation& operation = operations_[attempt];
    Decision decision;
    decision.answer = Answer::violation;
    decision.rule = "phantom-holder";
    decision.from = operation.call;
    decision.to = operation.ret;
    decision.core = proof_of_freedom(promise_, operations_, owners_, promise_.reentrancy, attempt, operation.call);
    // Of a proof by releases nothing can be missing: the owner in question could have held the lock just then. That a
    // hold was lost may follow from what others did.
    const bool losses =
        std::ranges::any_of(decision.core, [this](std::uint32_t each) { return operations_[each].refused(); });
    decision.core.push_back(attempt);
    if (limits_.minimal_core && losses) minimise_by_search(promise_, operations_, decision.core, limits_);
    Numbers proof = decision.core;
    std::erase(proof, attempt);
    decision.because = named(decision.core, {attempt}) + " was told that somebody holds the lock, and nobody can have" +
                       (proof.empty() ? ": nobody had asked for it"
                                      : ": " + named(decision.core, proof) + " show that every hold was over");
    return decision;
  }

  Decision possible() {
    Decision decision;
    decision.searched = searched_;
    if (!limits_.witness) return decision;
    std::ranges::sort(sightings_, {},
                      [](const Sighting& each) { return std::tuple(each.core, each.time, each.attempt); });
    const Numbers arranged = arrange(operations_, holds_, sightings_);
    // What was searched replaces what was arranged there; operations of different stretches do not mix.
    auto next = arranged.begin();
    for (const auto& [begin, end, witness] : found_) {
      while (next != arranged.end() && *next < begin) decision.witness.push_back(*next++);
      decision.witness.insert(decision.witness.end(), witness.begin(), witness.end());
      while (next != arranged.end() && *next < end) ++next;
    }
    decision.witness.insert(decision.witness.end(), next, arranged.end());
    return decision;
  }

  const Promise& promise_;
  Operations operations_;
  const Owners& owners_;
  Holds& holds_;
  const Limits& limits_;
  std::vector<bool> plain_;
  Numbers cuts_;
  Numbers released_;
  std::vector<Sighting> sightings_;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, Numbers>> found_;
  std::uint64_t searched_ = 0;
};

}  // namespace

Decision decide_attempts(const Promise& promise, Operations operations, const Owners& owners, Holds& holds,
                         const Limits& limits) {
  return Attempts(promise, operations, owners, holds, limits).run();
}

Decision phantom(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most,
                 Decision found, std::size_t begin, const Limits& limits) {
  // A core of the whole needs a proof that what came before the stretch is over.
  Numbers core =
      begin == 0 ? Numbers{} : proof_of_freedom(promise, operations, owners, most, begin, operations[begin].call);
  const bool minimal = core.empty();
  core.insert(core.begin(), found.core.begin(), found.core.end());
  if (limits.minimal_core && !minimal) minimise_by_search(promise, operations, core, limits);
  std::ranges::sort(core);
  found.core = std::move(core);
  Numbers told;
  Numbers others;
  for (const std::uint32_t member : found.core) {
    (is_attempt(operations[member]) ? told : others).push_back(member);
  }
  found.rule = "phantom-holder";
  found.because = named(found.core, told) + " cannot have been refused: " +
                  (promise.kind == Kind::mutex ? "nobody held the lock" : "not all permits were taken");
  if (!others.empty()) found.because += ", if " + named(found.core, others) + " are true";
  found.from = operations[told.empty() ? found.core.front() : told.front()].call;
  found.to = std::max(found.from, operations[told.empty() ? found.core.back() : told.back()].ret);
  return found;
}

}  // namespace holdfast::objects::locks
