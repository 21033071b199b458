#include "checkers/objects/register_components.h"

#include <algorithm>
#include <limits>
#include <span>

#include "checkers/objects/register_zones.h"
#include "checkers/objects/value_index.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr Instant kBeginning = std::numeric_limits<Instant>::min();

struct Value {
  Instant first_return = kNever;     // of all that know of it: its write, its reads, the cas that replaced it
  Instant last_call = kBeginning;    // likewise
  Instant last_return = kBeginning;  // of those that saw it
  std::uint32_t returned = kNone;    // who returned first
  std::uint32_t called = kNone;      // who was called last
  std::uint32_t maker = kNone;
  std::uint32_t successor = kNone;
  std::uint32_t last_read = kNone;
  std::uint32_t makers = 0;
  std::uint32_t successors = 0;
  bool seen = false;
  bool wanted_by_unknown = false;  // an unknown cas expects it

  // Everything that knows of the value belongs to one stretch of time.
  [[nodiscard]] bool once() const { return makers == 1 && maker != kNone && successors <= 1; }
  [[nodiscard]] bool forward() const { return once() && first_return < last_call; }
};

struct Cut {
  Instant first = 0;   // what is called after this is right of the cut
  Instant second = 0;  // what returns before this is left of it
  std::int64_t value = kNothing;
  std::uint32_t number = kNone;  // of the value; kNone: a cut behind an operation that overlaps no other
  std::uint32_t returned = kNone;
  std::uint32_t called = kNone;
};

bool makes(const Operation& operation) {
  return !operation.refused() && operation.f != Call::read;
}

std::int64_t made(const Operation& operation) {
  return operation.f == Call::cas ? operation.result : operation.argument;
}

// The value that an operation at its word found.
bool sees(const Operation& operation) {
  return operation.ok() && operation.f != Call::write;
}

std::int64_t seen(const Operation& operation) {
  return operation.f == Call::cas ? operation.argument : operation.result;
}

Decision decide_component(const Promise& promise, Operations operations, const Limits& limits) {
  std::optional<Decision> decision = decide_by_zones(promise, operations, limits);
  if (decision) return std::move(*decision);
  Decision found = search(promise, operations, limits);
  found.searched = operations.size();
  return found;
}

class Components {
 public:
  Components(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits), index_(make_index()) {}

  Decision decide() {
    find_values();
    choose_operations();
    if (limits_.reached()) return out_of_time();
    locate();
    find_cuts();
    if (!check_values() || !check_zones()) return fault_;
    keep_sound_cuts();
    if (limits_.reached()) return out_of_time();
    assign();
    return decide_each();
  }

 private:
  ValueIndex make_index() {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    for (const Operation& operation : operations_) {
      if (operation.f != Call::read) widen(operation.argument, least, greatest);
      if (operation.f != Call::write) widen(operation.result, least, greatest);
    }
    return {least, greatest, operations_.size() + 1};
  }

  Value& value_of(std::int64_t value) {
    const std::uint32_t number = index_.add(value);
    if (number == values_.size()) values_.emplace_back();
    return values_[number];
  }

  void know(Value& value, std::uint32_t number) {
    const Operation& operation = operations_[number];
    if (operation.ret < value.first_return) {
      value.first_return = operation.ret;
      value.returned = number;
    }
    if (operation.call >= value.last_call) {
      value.last_call = operation.call;
      value.called = number;
    }
  }

  void find_values() {
    value_of(promise_.initial).makers = 1;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (!sees(operation)) continue;
      Value& value = value_of(seen(operation));
      value.seen = true;
      value.last_return = std::max(value.last_return, operation.ret);
      if (operation.f == Call::cas) {
        ++value.successors;
        value.successor = i;
      } else {
        value.last_read = i;  // sorted by call
      }
      know(value, i);
    }
    // Backwards along unknown compare-and-sets: who makes a value of use is of use.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> unknown;  // (made, expected)
    for (const Operation& operation : operations_) {
      if (!operation.unknown() || operation.f != Call::cas) continue;
      value_of(operation.result);
      value_of(operation.argument);
      unknown.emplace_back(index_.find(operation.result), index_.find(operation.argument));
    }
    std::ranges::sort(unknown);
    Numbers open;
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      if (values_[i].seen) open.push_back(i);
    }
    while (!open.empty()) {
      const std::uint32_t wanted = open.back();
      open.pop_back();
      for (auto [made_by, end] =
               std::ranges::equal_range(unknown, wanted, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
           made_by != end; ++made_by) {
        Value& expected = values_[made_by->second];
        expected.wanted_by_unknown = true;
        if (!expected.seen) open.push_back(made_by->second);
        expected.seen = true;
      }
    }
  }

  // Leaves out unknown reads, and unknown writes that can be of no use to anybody.
  void choose_operations() {
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.unknown() && operation.f == Call::read) continue;
      if (makes(operation)) {
        Value& value = value_of(made(operation));
        unknown_ = unknown_ || operation.unknown();
        if (operation.unknown() && (!value.seen || (!value.wanted_by_unknown && operation.call > value.last_return))) {
          continue;
        }
        ++value.makers;
        value.maker = i;
        know(value, i);
      } else if (operation.refused()) {
        value_of(operation.argument);
      }
      kept_.push_back(i);
    }
  }

  // Where in time each operation lies as far as cuts are concerned.
  void locate() {
    from_.resize(kept_.size());
    until_.resize(kept_.size());
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Operation& operation = operations_[kept_[k]];
      from_[k] = operation.call;
      until_[k] = operation.ret;
      if (operation.refused()) continue;
      const Value& value = value_of(operation.f == Call::read ? operation.result : made(operation));
      if (value.once()) {  // one place for all of them
        from_[k] = value.forward() ? value.first_return : value.last_call;
        until_[k] = value.first_return;
        continue;
      }
      if (operation.unknown() && !value.wanted_by_unknown) until_[k] = value.last_return;
      if (operation.f != Call::cas || operation.unknown()) continue;
      const Value& before = value_of(operation.argument);
      if (before.forward()) from_[k] = std::max(from_[k], before.first_return + 1);
    }
  }

  void find_cuts() {
    for (std::uint32_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[i];
      if (!value.forward()) continue;
      cuts_.push_back(
          {value.first_return, value.last_call, made(operations_[value.maker]), i, value.returned, value.called});
    }
    std::ranges::sort(cuts_, {}, &Cut::first);
    std::vector<Cut> alone = operations_alone();
    zones_ = cuts_.size();
    for (const Cut& cut : alone) {  // not inside a stretch of a value written once: that is a cut itself
      const auto next = std::upper_bound(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(zones_), cut.first,
                                         [](Instant when, const Cut& other) { return when < other.first; });
      if (next == cuts_.begin() || std::prev(next)->second < cut.first) cuts_.push_back(cut);
    }
  }

  // Operations that overlap no other one: behind them the value is certain.
  std::vector<Cut> operations_alone() {
    std::vector<Cut> result;
    Instant latest = kBeginning;  // return before operation i
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Operation& operation = operations_[kept_[k]];
      if (operation.unknown()) continue;
      std::size_t next = k + 1;
      while (next < kept_.size() && operations_[kept_[next]].unknown()) ++next;
      const bool alone = latest < operation.call && operation.ok() &&
                         (next == kept_.size() || operations_[kept_[next]].call > operation.ret);
      latest = std::max(latest, operation.ret);
      if (!alone || next == kept_.size()) continue;
      const std::int64_t value = operation.f == Call::write ? operation.argument : operation.result;
      result.push_back({operation.ret, operation.ret + 1, value, kNone, kept_[k], kept_[k]});
    }
    return result;
  }

  // A value that was written once is not seen before that, and not after it was replaced.
  bool check_values() {
    for (const Value& value : values_) {
      if (!value.once()) continue;
      const std::string name = in_words(made(operations_[value.maker]));
      const Instant written = operations_[value.maker].call;
      if (value.first_return < written) {
        return fail("read-before-write", name + " was there before its write was even asked for", value.first_return,
                    written, {value.returned});
      }
      if (value.successor == kNone || value.last_read == kNone) continue;
      const Operation& replaced = operations_[value.successor];
      const Operation& read = operations_[value.last_read];
      if (replaced.ret < read.call) {
        return fail("stale-read", name + " was read after it had been replaced by a compare-and-set", replaced.ret,
                    read.call, {value.successor, value.last_read});
      }
    }
    return true;
  }

  // Two values that were certainly held at the same time; something else inside the stretch of a value.
  bool check_zones() {
    const std::span<const Cut> zones(cuts_.data(), zones_);
    for (std::size_t i = 1; i < zones.size(); ++i) {
      if (zones[i].first >= zones[i - 1].second) continue;
      return fail("two-values-at-once",
                  "the register would have to hold " + in_words(zones[i - 1].value) + " and " +
                      in_words(zones[i].value) + " at the same time",
                  zones[i].first, zones[i - 1].second,
                  {zones[i].returned, zones[i].called, zones[i - 1].returned, zones[i - 1].called});
    }
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Operation& operation = operations_[kept_[k]];
      const auto next = std::ranges::lower_bound(zones, from_[k], {}, &Cut::first);
      if (next == zones.begin() || until_[k] >= std::prev(next)->second) continue;
      const Cut& zone = *std::prev(next);
      if (operation.refused()) {
        if (index_.find(operation.argument) != zone.number) continue;
        return fail("refused-while-held",
                    "the register certainly held " + in_words(zone.value) + " when somebody was told that it did not",
                    operation.call, operation.ret, {kept_[k], zone.returned, zone.called});
      }
      const Value& value = value_of(operation.f == Call::read ? operation.result : made(operation));
      if (operation.unknown() && !value.once()) continue;
      std::vector<std::uint32_t> core = {kept_[k], zone.returned, zone.called};
      if (value.once()) core.insert(core.end(), {value.returned, value.called});
      return fail("stale-read",
                  "the register must have held " + in_words(zone.value) + " before and after it had another value",
                  from_[k], until_[k], core);
    }
    return true;
  }

  void keep_sound_cuts() {
    std::ranges::sort(cuts_, {}, &Cut::first);
    std::vector<std::int32_t> spoilt(cuts_.size() + 1);
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const Operation& operation = operations_[kept_[k]];
      const auto from = std::ranges::lower_bound(cuts_, from_[k], {}, &Cut::first) - cuts_.begin();
      const auto to = std::ranges::upper_bound(cuts_, until_[k], {}, &Cut::second) - cuts_.begin();
      if (from >= to) continue;
      if (!operation.refused()) {
        ++spoilt[static_cast<std::size_t>(from)];
        --spoilt[static_cast<std::size_t>(to)];
        continue;
      }
      const std::uint32_t refused = index_.find(operation.argument);  // every other value suits it
      if (!values_[refused].forward()) continue;
      const auto own = std::ranges::lower_bound(cuts_, values_[refused].first_return, {}, &Cut::first) - cuts_.begin();
      if (own < from || own >= to) continue;
      ++spoilt[static_cast<std::size_t>(own)];
      --spoilt[static_cast<std::size_t>(own) + 1];
    }
    std::vector<Cut> kept;
    std::int32_t spoilers = 0;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      spoilers += spoilt[i];
      if (spoilers == 0) kept.push_back(cuts_[i]);
    }
    cuts_ = std::move(kept);
  }

  [[nodiscard]] std::uint32_t component_of(std::size_t kept) const {
    const auto component =
        static_cast<std::uint32_t>(std::ranges::lower_bound(cuts_, from_[kept], {}, &Cut::first) - cuts_.begin());
    if (!operations_[kept_[kept]].refused() || component == 0) return component;
    const Cut& before = cuts_[component - 1];  // a refusal inside a stretch goes with those who read the value there
    return before.number != kNone && until_[kept] < before.second ? component - 1 : component;
  }

  void assign() {
    component_begin_.assign(cuts_.size() + 2, 0);
    Numbers component(kept_.size());
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      component[k] = component_of(k);
      ++component_begin_[component[k] + 1];
    }
    for (std::size_t i = 1; i < component_begin_.size(); ++i) component_begin_[i] += component_begin_[i - 1];
    members_.resize(kept_.size());
    Numbers next(component_begin_.begin(), component_begin_.end());
    for (std::size_t k = 0; k < kept_.size(); ++k) members_[next[component[k]]++] = kept_[k];
  }

  Decision decide_each() {
    Decision whole;
    Limits limits = limits_;
    limits.minimal_core = limits.minimal_core && cuts_.empty();
    std::vector<Operation> some;
    Promise promise = promise_;
    for (std::uint32_t i = 0; i <= cuts_.size(); ++i) {
      const std::span<const std::uint32_t> members(members_.data() + component_begin_[i],
                                                   component_begin_[i + 1] - component_begin_[i]);
      if (members.empty()) continue;
      if (limits_.reached()) return ran_out(i);
      some.clear();
      for (const std::uint32_t number : members) some.push_back(operations_[number]);
      const bool closed = i < cuts_.size() && cuts_[i].number != kNone;
      if (closed) {  // the value is still there at the end
        some.push_back(
            {.call = cuts_[i].second, .ret = cuts_[i].second, .result = cuts_[i].value, .process = kNone - 1});
        std::ranges::stable_sort(some, {}, &Operation::call);
      }
      promise.initial = i == 0 ? promise_.initial : cuts_[i - 1].value;
      const Decision decision = decide_component(promise, some, limits);
      whole.searched += decision.searched;
      if (decision.answer == Answer::undecided) return ran_out(i);
      if (decision.answer == Answer::violation) return explain(i, members, some, decision, whole.searched);
      collect(whole, members, some, decision);
    }
    return whole;
  }

  // Numbers inside a component to numbers of the history; kNone for the closing read.
  [[nodiscard]] static Numbers translated(const Numbers& numbers, std::span<const std::uint32_t> members,
                                          const std::vector<Operation>& some) {
    std::size_t closing = some.size();
    for (std::size_t i = 0; i < some.size() && some.size() > members.size(); ++i) {
      if (some[i].process == kNone - 1) closing = i;
    }
    Numbers result;
    result.reserve(numbers.size());
    for (const std::uint32_t number : numbers) {
      result.push_back(number == closing ? kNone : members[number - (number > closing ? 1U : 0U)]);
    }
    return result;
  }

  void collect(Decision& whole, std::span<const std::uint32_t> members, const std::vector<Operation>& some,
               const Decision& decision) const {
    if (!limits_.witness) return;
    for (const std::uint32_t number : translated(decision.witness, members, some)) {
      if (number != kNone) whole.witness.push_back(number);
    }
  }

  Decision ran_out(std::uint32_t component) {
    Decision decision = out_of_time();
    if (component > 0) decision.proven_until = cuts_[component - 1].first;
    return decision;
  }

  Decision explain(std::uint32_t component, std::span<const std::uint32_t> members, const std::vector<Operation>& some,
                   const Decision& found, std::uint64_t searched) {
    const bool refused = std::ranges::any_of(some, [](const Operation& each) { return each.refused(); });
    if (refused && unknown_) {  // a write that nobody saw, or of another component, may have made room for the refusal
      Decision decision = search(promise_, operations_, limits_);
      decision.searched = operations_.size();
      return decision;
    }
    Decision decision = found;
    decision.searched = searched;
    decision.core = translated(found.core, members, some);
    if (cuts_.empty() && !unknown_ && found.searched > 0) return decision;  // the search has made it minimal
    if (found.searched > 0) {
      decision.rule = "no-order";
      decision.because = "no order of the reads and writes explains what was seen";
    }
    Numbers core;
    for (const std::uint32_t number : decision.core) {
      if (number != kNone) core.push_back(number);
    }
    for (const std::uint32_t end : {component, component - 1}) {
      if (end >= cuts_.size()) continue;
      for (const std::uint32_t proof : {cuts_[end].returned, cuts_[end].called})
        core.push_back(at_its_word(proof, core));
    }
    add_makers(component, core);
    std::erase(core, kNone);
    conclude_from(decision, core);
    return decision;
  }

  // The evidence of a cut may be an unknown write: then whoever saw its value takes its place.
  std::uint32_t at_its_word(std::uint32_t number, Numbers& core) {
    if (!operations_[number].unknown()) return number;
    for (const std::uint32_t other : kept_) {
      if (sees(operations_[other]) && seen(operations_[other]) == made(operations_[number])) core.push_back(other);
    }
    return kNone;
  }

  // Writes that came before the component must be taken at their word, else they could come late and explain it.
  void add_makers(std::uint32_t component, Numbers& core) {
    std::vector<bool> of_use(values_.size());
    bool any = false;
    for (const std::uint32_t number : core) {
      if (number == kNone) continue;
      any = any || operations_[number].refused();
      if (sees(operations_[number])) of_use[index_.find(seen(operations_[number]))] = true;
    }
    for (bool more = true; more;) {
      more = false;
      for (const std::uint32_t number : kept_) {
        const Operation& operation = operations_[number];
        if (operation.f != Call::cas || operation.refused() || !of_use[index_.find(operation.result)]) continue;
        const std::uint32_t expected = index_.find(operation.argument);
        if (expected < of_use.size() && !of_use[expected]) more = of_use[expected] = true;
      }
    }
    const std::size_t end = component_begin_[component + 1];
    for (std::size_t k = 0; k < end; ++k) {
      const Operation& operation = operations_[members_[k]];
      if (operation.ok() && makes(operation) && (any || of_use[index_.find(made(operation))]))
        core.push_back(members_[k]);
    }
  }

  void conclude_from(Decision& decision, const Numbers& core) {
    const Decider exact = [](const Promise& of, Operations some, const Limits& within) {
      std::optional<Decision> zones = decide_by_zones(of, some, within);
      return zones ? std::move(*zones) : decide_by_components(of, some, within);
    };
    if (!limits_.minimal_core || contradictory(promise_, operations_, core, exact, limits_)) {
      conclude(decision, promise_, operations_, core, exact, limits_);
      return;
    }
    Numbers everything;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (!operations_[i].unknown()) everything.push_back(i);
    }
    conclude(decision, promise_, operations_, everything, exact, limits_);
  }

  bool fail(std::string rule, std::string conclusion, Instant from, Instant to, const Numbers& evidence) {
    fault_ = violation(std::move(rule), std::move(conclusion), from, to);
    Numbers core;
    for (const std::uint32_t proof : evidence) core.push_back(at_its_word(proof, core));
    std::erase(core, kNone);
    conclude_from(fault_, core);
    return false;
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  ValueIndex index_;
  std::vector<Value> values_;
  Numbers kept_;
  std::vector<Instant> from_;  // where those that are kept lie in time
  std::vector<Instant> until_;
  bool unknown_ = false;  // some writes are
  std::vector<Cut> cuts_;
  std::size_t zones_ = 0;  // how many cuts are stretches of a value
  Numbers members_;        // by component
  Numbers component_begin_;
  Decision fault_;
};

}  // namespace

Decision decide_by_components(const Promise& promise, Operations operations, const Limits& limits) {
  return Components(promise, operations, limits).decide();
}

}  // namespace holdfast::objects
