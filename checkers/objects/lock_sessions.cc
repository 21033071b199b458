#include "checkers/objects/lock_sessions.h"

#include <algorithm>
#include <stdexcept>

namespace holdfast::objects::locks {

Decision out_of_limits(std::string_view what) {
  Decision decision;
  decision.answer = Answer::undecided;
  decision.because = std::string(what) + " ran out";
  return decision;
}

Owners::Owners(Operations operations, bool by_hold) : by_hold_(by_hold) {
  std::uint32_t greatest = 0;
  for (const Operation& operation : operations) {
    greatest = std::max(greatest, by_hold_ ? operation.hold : operation.process);
  }
  size_ = std::size_t{greatest} + 1;
  if (size_ <= operations.size() + 1024) return;
  ids_.reserve(operations.size());
  for (const Operation& operation : operations) ids_.push_back(by_hold_ ? operation.hold : operation.process);
  std::ranges::sort(ids_);
  ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
  size_ = ids_.size();
}

std::uint32_t Owners::place(std::uint32_t id) const {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(ids_, id) - ids_.begin());
}

Paths::Paths(Operations operations, const Owners& owners, std::uint32_t most, const Limits& limits)
    : counts_(owners.size()) {
  look_back(operations, owners, most, limits);
}

void Paths::look_back(Operations operations, const Owners& owners, std::int64_t most, const Limits& limits) {
  std::vector<Bounds> bounds(owners.size(), Bounds{.least = 0, .greatest = most});
  for (std::size_t i = operations.size(); i-- > 0;) {
    if (stopped_at(i, limits)) {
      stopped_ = true;
      return;
    }
    const Operation& operation = operations[i];
    if (operation.f == Call::acquire && operation.refused()) continue;
    auto& [least, greatest] = bounds[owners.of(operation)];
    if (operation.unknown()) least_after_unknown_.push_back(static_cast<std::uint32_t>(least));
    if (operation.refused()) {
      greatest = 0;
    } else if (operation.f == Call::acquire) {
      least = std::max<std::int64_t>(0, least - 1);
      if (operation.ok()) --greatest;
    } else {
      if (operation.ok()) ++least;
      greatest = std::min(most, greatest + 1);
    }
    if (least > greatest) {
      explain(operations, owners, most, i, false);
      return;
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].f == Call::acquire && operations[i].refused()) continue;
    if (bounds[owners.of(operations[i])].least == 0) continue;
    explain(operations, owners, most, i, true);
    return;
  }
}

// Finds where the session that is impossible from `first` on (from a count of nothing, or from any count) breaks.
void Paths::explain(Operations operations, const Owners& owners, std::int64_t most, std::size_t first,
                    bool from_nothing) {
  const std::uint32_t owner = owners.of(operations[first]);
  Contradiction found{.from = operations[first].call, .to = operations[first].call};
  found.first = static_cast<std::uint32_t>(first);
  std::int64_t low = 0;
  std::int64_t high = from_nothing ? 0 : most;
  std::size_t releases = 0;
  for (std::size_t i = first; i < operations.size() && low <= high; ++i) {
    const Operation& operation = operations[i];
    if (owners.of(operation) != owner || (operation.f == Call::acquire && operation.refused())) continue;
    found.part.push_back(static_cast<std::uint32_t>(i));
    found.to = operation.unknown() ? operation.call : operation.ret;
    if (operation.refused()) {
      high = low > 0 ? -1 : 0;
    } else if (operation.f == Call::acquire) {
      if (operation.ok()) ++low;
      high = std::min(most, high + 1);
    } else {
      low = std::max<std::int64_t>(0, low - 1);
      if (operation.ok()) {
        --high;
        ++releases;
      }
    }
  }
  // Acquires before the part may be what its releases give back; more of them than releases are of no use.
  for (std::size_t i = first; i-- > 0 && releases > 0;) {
    if (operations[i].f != Call::acquire || operations[i].refused() || owners.of(operations[i]) != owner) continue;
    found.part.push_back(static_cast<std::uint32_t>(i));
    --releases;
  }
  std::ranges::sort(found.part);
  contradiction_ = std::move(found);
}

std::vector<Operation> weakened_part(Operations operations, const Numbers& part, const Numbers& kept) {
  std::vector<Operation> result;
  result.reserve(part.size());
  auto next = kept.begin();
  for (const std::uint32_t number : part) {
    while (next != kept.end() && *next < number) ++next;
    Operation operation = operations[number];
    if (next == kept.end() || *next != number) {
      if (operation.refused()) continue;
      operation.outcome = Outcome::unknown;
      operation.ret = kNever;
      operation.result = kNothing;
    }
    result.push_back(operation);
  }
  return result;
}

void minimise(Operations operations, const Numbers& part, Numbers& core, const Impossible& impossible,
              const Limits& limits) {
  constexpr std::size_t kMostWork = 200'000'000;
  std::size_t work = 0;
  // Whole blocks first: most of a large core goes away in a few steps. The pass over blocks of one makes it minimal,
  // because what could not be dropped from a larger core cannot be dropped from a smaller one.
  for (std::size_t block = std::max<std::size_t>(1, core.size() / 2);; block /= 2) {
    for (std::size_t end = core.size(); end > 0;) {
      if (limits.reached() || work > kMostWork) return;
      work += part.size();
      const std::size_t begin = end > block ? end - block : 0;
      Numbers fewer(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), core.begin() + static_cast<std::ptrdiff_t>(end), core.end());
      Numbers sorted = fewer;
      std::ranges::sort(sorted);
      if (!fewer.empty() && impossible(weakened_part(operations, part, sorted))) core = std::move(fewer);
      end = begin;
    }
    if (block == 1) return;
  }
}

Numbers candidates(Operations operations, const Contradiction& contradiction) {
  Numbers result;
  for (const std::uint32_t number : contradiction.part) {
    const Operation& operation = operations[number];
    if (number < contradiction.first || operation.unknown()) continue;
    result.push_back(number);
  }
  std::ranges::stable_sort(result, {}, [&](std::uint32_t number) { return operations[number].f == Call::release; });
  return result;
}

std::string named(const Numbers& core, const Numbers& members) {
  constexpr std::size_t kMostNamed = 6;
  std::string text;
  const std::size_t count = std::min(members.size(), kMostNamed);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == members.size() ? " and " : ", ";
    text += '{' + std::to_string(std::ranges::lower_bound(core, members[i]) - core.begin()) + '}';
  }
  if (count < members.size()) text += " and " + std::to_string(members.size() - count) + " more";
  return text;
}

void explain_session(Operations operations, std::uint32_t most, Decision& decision) {
  std::size_t acquires = 0;
  std::size_t refusals = 0;
  for (const std::uint32_t member : decision.core) {
    if (operations[member].f == Call::acquire) ++acquires;
    if (operations[member].refused()) ++refusals;
  }
  const std::string all = named(decision.core, decision.core);
  if (refusals > 0) {
    decision.rule = "refused-while-held";
    decision.because = all + " cannot all be true: the owner was told that it did not hold the lock, and it held it";
  } else if (acquires == 0) {
    decision.rule = "release-without-acquire";
    decision.because = decision.core.size() == 1
                           ? all + " released the lock, and its owner cannot have acquired it before"
                           : all + " released the lock more often than their owner can have acquired it";
  } else if (acquires == decision.core.size() && most == 1) {
    decision.rule = "acquired-twice";
    decision.because = all + " acquired the lock, and their owner asked for no release between them";
  } else {
    decision.rule = acquires == decision.core.size() ? "reentrancy-exceeded" : "impossible-session";
    decision.because =
        all + " cannot all be true of one owner that may hold the lock " + std::to_string(most) + " times at most";
  }
}

namespace {

// How much an owner may hold, seen from outside.
class Greatest {
 public:
  Greatest(const Promise& promise, std::uint32_t most, std::size_t owners)
      : identity_(promise.identity), most_(most), held_(owners), known_(identity_ == Identity::hold ? owners : 0) {}

  // Nobody holds anything, and no unknown operation can change that.
  [[nodiscard]] bool nothing() const { return holders_ == 0 && !forever_; }

  void pass(const Operation& operation, std::uint32_t owner) {
    if (operation.unknown() && identity_ == Identity::reuse) forever_ = true;
    std::uint32_t& held = held_[owner];
    const std::uint32_t before = held;
    if (operation.f == Call::acquire) {
      if (!operation.refused() && held < most_) ++held;
      if (operation.ok()) learn(owner, kAcquired);
    } else if (operation.ok()) {
      if (held > 0) --held;
      learn(owner, kOver);
    } else if (operation.refused()) {
      // An acquire of a hold id that nobody saw succeed may still be on its way.
      if (identity_ != Identity::hold || known_[owner] != kNothingKnown) {
        held = 0;
        learn(owner, kOver);
      }
    } else if (identity_ == Identity::hold && known_[owner] == kNothingKnown && held == 0) {
      forever_ = true;  // a release that may come after an acquire that is yet to be called
    }
    if (before == 0 && held > 0) ++holders_;
    if (before > 0 && held == 0) --holders_;
  }

 private:
  static constexpr std::uint8_t kNothingKnown = 0;
  static constexpr std::uint8_t kAcquired = 1;
  static constexpr std::uint8_t kOver = 2;
  void learn(std::uint32_t owner, std::uint8_t what) {
    if (!known_.empty()) known_[owner] = std::max(known_[owner], what);
  }

  Identity identity_;
  std::uint32_t most_;
  Numbers held_;
  std::vector<std::uint8_t> known_;  // of hold ids
  std::size_t holders_ = 0;
  bool forever_ = false;
};

}  // namespace

Numbers stretches(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most) {
  Numbers result;
  Greatest held(promise, most, owners.size());
  Instant busy_until = std::numeric_limits<Instant>::min();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (i == 0 || (busy_until < operations[i].call && held.nothing())) result.push_back(static_cast<std::uint32_t>(i));
    if (!operations[i].unknown()) busy_until = std::max(busy_until, operations[i].ret);
    held.pass(operations[i], owners.of(operations[i]));
  }
  result.push_back(static_cast<std::uint32_t>(operations.size()));
  return result;
}

Numbers proof_of_freedom(const Promise& promise, Operations operations, const Owners& owners, std::uint32_t most,
                         std::size_t end, Instant then) {
  // Backwards. An owner holds nothing at the end if it held at most `allowed` here; the proof is complete where that is
  // all it can hold. What came before is over: sessions are ordered. A refusal ("not held") proves it at once, but that
  // of a hold id only together with the acquire, which could else take effect later.
  struct Proof {
    std::uint32_t allowed = 0;
    std::uint32_t refusal = kNone;
    bool done = false;
  };
  std::vector<Proof> proofs(owners.size());
  Numbers result;
  for (std::size_t i = end; i-- > 0;) {
    const Operation& operation = operations[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (operation.refused() && (operation.f == Call::acquire || operation.ret >= then)) continue;
    Proof& proof = proofs[owners.of(operation)];
    if (proof.done) continue;
    const bool by_hold = promise.identity == Identity::hold;
    if (operation.refused()) {
      if (proof.refusal == kNone) proof.refusal = number;
    } else if (proof.refusal != kNone && !operation.unknown() && operation.f == Call::release && by_hold) {
      result.push_back(number);
      proof.done = true;
    } else if (proof.refusal != kNone && (operation.f == Call::acquire || operation.ok())) {
      result.push_back(proof.refusal);
      if (by_hold) result.push_back(number);
      proof.done = true;
    } else if (operation.f == Call::acquire) {
      if (proof.allowed > 0) --proof.allowed;
    } else if (operation.ok()) {
      result.push_back(number);
      proof.done = ++proof.allowed >= most;
    }
  }
  std::ranges::sort(result);
  return result;
}

Decision search_stretch(const Promise& promise, Operations operations, std::size_t begin, std::size_t end,
                        const Limits& limits) {
  Decision decision = search(promise, operations.subspan(begin, end - begin), limits);
  for (std::uint32_t& number : decision.witness) number += static_cast<std::uint32_t>(begin);
  for (std::uint32_t& number : decision.core) number += static_cast<std::uint32_t>(begin);
  decision.searched = end - begin;
  return decision;
}

void refuse_call(const Promise& promise, std::size_t number, const Operation& operation) {
  throw std::invalid_argument("operation " + std::to_string(number) + ": a " + std::string(to_string(promise.kind)) +
                              " has no operation \"" + std::string(to_string(operation.f)) + '"');
}

}  // namespace holdfast::objects::locks
