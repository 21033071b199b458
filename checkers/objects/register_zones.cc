#include "checkers/objects/register_zones.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "checkers/objects/value_index.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr Instant kBeginning = std::numeric_limits<Instant>::min();

struct Value {
  std::int64_t value = kNothing;
  Instant first_return = kNever;     // of its reads
  Instant last_call = kBeginning;    // of its reads
  std::uint32_t first_read = kNone;  // the one that returned first
  std::uint32_t last_read = kNone;   // the one that was called last
  std::uint32_t maker = kNone;       // the write or cas that wrote it
  std::uint32_t successor = kNone;   // the cas that replaced it
  std::uint32_t seen_by = kNone;     // an operation at its word that needs this value to have been there
  std::uint32_t reads = 0;           // how many; later where they begin among all reads
};

struct Zone {
  Instant first_return = kNever;
  Instant last_call = kBeginning;
  std::uint32_t head = 0;  // the chain's first value
  std::uint32_t returned = kNone;
  std::uint32_t called = kNone;
};

// A place in the order of zones: when, and backward zones before the forward zone that begins then.
struct Place {
  Instant when;
  bool forward;
  std::uint32_t zone;
  friend bool operator<(const Place& one, const Place& other) {
    return one.when != other.when ? one.when < other.when : one.forward < other.forward;
  }
};

class Zones {
 public:
  Zones(const Promise& promise, Operations operations, const Limits& limits)
      : promise_(promise), operations_(operations), limits_(limits), index_(make_index(promise, operations)) {}

  std::optional<Decision> decide() {
    if (!find_makers()) return std::nullopt;
    if (limits_.reached()) return out_of_time();
    if (!find_observers() || !follow_unknown_makers()) return fault_;
    if (limits_.reached()) return out_of_time();
    if (!build_chains() || !place_zones() || !check_refusals()) return fault_;
    if (limits_.reached()) return out_of_time();
    Decision decision;
    if (!limits_.witness && refusals_.empty()) return decision;
    decision.witness = in_order();
    if (!refusals_.empty()) {
      if (!insert_refusals(decision.witness)) return std::nullopt;
      if (!limits_.witness) decision.witness.clear();
    }
    return decision;
  }

 private:
  static ValueIndex make_index(const Promise& promise, Operations operations) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    std::size_t makers = 1;
    widen(promise.initial, least, greatest);
    for (const Operation& operation : operations) {
      if (operation.f == Call::read || operation.refused()) continue;
      ++makers;
      widen(operation.f == Call::cas ? operation.result : operation.argument, least, greatest);
    }
    return {least, greatest, makers};
  }

  Value& found(std::int64_t value) { return values_[index_.find(value)]; }

  bool find_makers() {
    values_.reserve(operations_.size() / 2 + 2);
    values_.emplace_back().value = promise_.initial;
    index_.add(promise_.initial);
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      require_register_operation(promise_, i, operation);
      if (operation.f == Call::read || operation.refused()) continue;
      const std::int64_t value = operation.f == Call::cas ? operation.result : operation.argument;
      if (index_.add(value) != values_.size()) return false;
      Value& made = values_.emplace_back();
      made.value = value;
      made.maker = i;
    }
    return true;
  }

  bool from_nowhere(std::uint32_t number, std::int64_t value) {
    fail("read-from-nowhere", "nobody ever wrote " + in_words(value), operations_[number].call, operations_[number].ret,
         {number});
    return false;
  }

  bool find_observers() {
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.f == Call::write || operation.unknown()) continue;
      if (operation.refused()) {
        refusals_.push_back(i);
        continue;
      }
      const std::int64_t value = operation.f == Call::cas ? operation.argument : operation.result;
      const std::uint32_t number = index_.find(value);
      if (number == kNone) return from_nowhere(i, value);
      Value& seen = values_[number];
      seen.seen_by = i;
      if (operation.f == Call::cas) {
        if (!succeed(seen, i)) return false;
        continue;
      }
      ++seen.reads;
      if (operation.ret < seen.first_return) {
        seen.first_return = operation.ret;
        seen.first_read = i;
      }
      seen.last_call = operation.call;  // sorted by call
      seen.last_read = i;
    }
    return true;
  }

  // The cas `number` is known to have replaced `value`.
  bool succeed(Value& value, std::uint32_t number) {
    if (value.successor == kNone) {
      value.successor = number;
      return true;
    }
    const std::uint32_t one = at_its_word(value.successor);
    const std::uint32_t other = at_its_word(number);
    fail("two-successors", "two compare-and-sets replaced the same " + in_words(value.value),
         operations_[value.successor].call, operations_[number].call, {one, other});
    return false;
  }

  // Somebody at its word who makes it certain that the operation took effect.
  std::uint32_t at_its_word(std::uint32_t number) {
    const Operation& operation = operations_[number];
    if (!operation.unknown()) return number;
    return found(operation.f == Call::cas ? operation.result : operation.argument).seen_by;
  }

  // Who saw the value of an unknown cas also says that there was the value which it replaced.
  bool follow_unknown_makers() {
    for (std::uint32_t first = 0; first < values_.size(); ++first) {
      for (std::uint32_t number = first; is_seen_unknown_cas(number);) {
        const std::uint32_t maker = values_[number].maker;
        const std::uint32_t before = index_.find(operations_[maker].argument);
        if (before == kNone) return from_nowhere(values_[number].seen_by, operations_[maker].argument);
        if (values_[before].successor == maker) break;  // followed before
        if (!succeed(values_[before], maker)) return false;
        const bool known = values_[before].seen_by != kNone;
        if (!known) values_[before].seen_by = values_[number].seen_by;
        if (known && before > first) break;  // its turn comes
        number = before;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_seen_unknown_cas(std::uint32_t number) const {
    const Value& value = values_[number];
    return value.seen_by != kNone && value.maker != kNone && operations_[value.maker].f == Call::cas &&
           operations_[value.maker].unknown();
  }

  [[nodiscard]] bool took_effect(const Value& value) const {
    return value.maker == kNone || !operations_[value.maker].unknown() || value.seen_by != kNone;
  }

  [[nodiscard]] std::uint32_t after(const Value& value) const {
    return value.successor == kNone ? kNone : index_.find(operations_[value.successor].result);
  }

  bool build_chains() {
    std::size_t in_chains = 0;
    std::size_t effective = 0;
    for (std::uint32_t head = 0; head < values_.size(); ++head) {
      if (!took_effect(values_[head])) continue;
      ++effective;
      if (head != 0 && operations_[values_[head].maker].f == Call::cas) continue;
      Zone zone{.head = head};
      if (head == 0) zone.first_return = kBeginning;
      for (std::uint32_t number = head; number != kNone; number = after(values_[number])) {
        ++in_chains;
        const Value& value = values_[number];
        if (value.maker != kNone &&
            !extend(zone, value.maker, operations_[value.maker].ret, value.maker, operations_[value.maker].call)) {
          return false;
        }
        if (value.first_read != kNone &&
            !extend(zone, value.first_read, value.first_return, value.last_read, value.last_call)) {
          return false;
        }
      }
      if (zone.called != kNone) zones_.push_back(zone);
    }
    return in_chains == effective || fail_circle();
  }

  // Adds what comes next in a chain: it must not have returned before anything so far was called.
  bool extend(Zone& zone, std::uint32_t returned, Instant ret, std::uint32_t called, Instant call) {
    if (ret < zone.last_call) {
      const Operation& early = operations_[returned];
      const Operation& late = operations_[zone.called];
      const std::int64_t newer = early.f == Call::read || early.f == Call::cas ? early.result : early.argument;
      if (late.f == Call::read) {
        fail("stale-read",
             in_words(late.result) + " was replaced by compare-and-set on the way to " + in_words(newer) +
                 ", so it cannot be read after " + in_words(newer) + " was there",
             ret, call_of(zone), {returned, zone.called});
      } else {
        fail("read-before-write", in_words(newer) + " was there before what led to it was even asked for", ret,
             call_of(zone), {returned, at_its_word(zone.called)});
      }
      return false;
    }
    if (ret < zone.first_return) {
      zone.first_return = ret;
      zone.returned = returned;
    }
    if (call > zone.last_call) {
      zone.last_call = call;
      zone.called = called;
    }
    return true;
  }

  static Instant call_of(const Zone& zone) { return zone.last_call; }

  // Chains that nothing begins: each value of them needs the one before it.
  bool fail_circle() {
    std::vector<bool> reached(values_.size());
    for (std::uint32_t head = 0; head < values_.size(); ++head) {
      if (!took_effect(values_[head]) || (head != 0 && operations_[values_[head].maker].f == Call::cas)) continue;
      for (std::uint32_t number = head; number != kNone; number = after(values_[number])) reached[number] = true;
    }
    for (std::uint32_t number = 0; number < values_.size(); ++number) {
      if (reached[number] || !took_effect(values_[number])) continue;
      const std::uint32_t proof = at_its_word(values_[number].maker);
      fail("read-from-nowhere",
           in_words(values_[number].value) + " comes from a circle of compare-and-sets that nothing begins",
           operations_[proof].call, operations_[proof].ret, {proof});
      return false;
    }
    return true;
  }

  bool place_zones() {
    std::vector<Place> forward;
    for (std::uint32_t i = 0; i < zones_.size(); ++i) {
      if (zones_[i].first_return < zones_[i].last_call) forward.push_back({zones_[i].first_return, true, i});
    }
    std::sort(forward.begin(), forward.end());
    for (std::size_t i = 1; i < forward.size(); ++i) {
      const Zone& one = zones_[forward[i - 1].zone];
      const Zone& other = zones_[forward[i].zone];
      if (other.first_return >= one.last_call) continue;
      fail("two-values-at-once",
           "the register would have to hold " + name(one) + " and " + name(other) + " at the same time",
           other.first_return, std::min(one.last_call, other.last_call), evidence(one, other));
      return false;
    }
    if (!place_backward(forward)) return false;
    places_.insert(places_.end(), forward.begin(), forward.end());
    std::sort(places_.begin(), places_.end());
    return true;
  }

  bool place_backward(const std::vector<Place>& forward) {
    for (std::uint32_t i = 0; i < zones_.size(); ++i) {
      const Zone& zone = zones_[i];
      if (zone.first_return < zone.last_call) continue;
      Instant when = zone.last_call;
      const auto next = std::ranges::lower_bound(forward, when, {}, &Place::when);
      if (next != forward.begin()) {
        const Zone& around = zones_[std::prev(next)->zone];
        if (zone.first_return < around.last_call) {
          fail("stale-read",
               name(zone) + " was written while the register must have held " + name(around) + " before and after",
               zone.last_call, zone.first_return, evidence(around, zone));
          return false;
        }
        when = std::max(when, around.last_call);
      }
      places_.push_back({when, false, i});
    }
    return true;
  }

  [[nodiscard]] std::string name(const Zone& zone) const { return in_words(values_[zone.head].value); }

  Numbers evidence(const Zone& one, const Zone& other) {
    Numbers core;
    for (const Zone* zone : {&one, &other}) {
      if (zone->returned != kNone) core.push_back(at_its_word(zone->returned));
      core.push_back(at_its_word(zone->called));
    }
    return core;
  }

  // "It did not hold u" inside a stretch in which it certainly did.
  bool check_refusals() {
    for (const std::uint32_t refusal : refusals_) {
      const std::uint32_t number = index_.find(operations_[refusal].argument);
      if (number == kNone || !took_effect(values_[number])) continue;
      const Value& value = values_[number];
      Zone certain{.first_return = number == 0 ? kBeginning : value.first_return,
                   .last_call = value.last_call,
                   .returned = value.first_read,
                   .called = value.last_read};
      for (const std::uint32_t each : {value.maker, value.successor}) {
        if (each == kNone) continue;
        if (operations_[each].ret < certain.first_return) {
          certain.first_return = operations_[each].ret;
          certain.returned = each;
        }
        if (operations_[each].call > certain.last_call) {
          certain.last_call = operations_[each].call;
          certain.called = each;
        }
      }
      if (certain.first_return >= operations_[refusal].call || operations_[refusal].ret >= certain.last_call) continue;
      Numbers core = {refusal, at_its_word(certain.called)};
      if (certain.returned != kNone && number != 0) core.push_back(at_its_word(certain.returned));
      fail("refused-while-held",
           "the register certainly held " + in_words(value.value) + " when somebody was told that it did not",
           operations_[refusal].call, operations_[refusal].ret, core);
      return false;
    }
    return true;
  }

  void group_reads() {
    std::uint32_t begin = 0;
    for (Value& value : values_) begin += std::exchange(value.reads, begin);
    reads_.resize(begin);
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (operations_[i].f == Call::read && operations_[i].ok()) reads_[found(operations_[i].result).reads++] = i;
    }
    for (std::size_t i = values_.size(); i-- > 1;) values_[i].reads = values_[i - 1].reads;
    values_[0].reads = 0;
  }

  Numbers in_order() {
    group_reads();
    Numbers order;
    order.reserve(operations_.size());
    for (const Place& place : places_) {
      for (std::uint32_t number = zones_[place.zone].head; number != kNone; number = after(values_[number])) {
        if (values_[number].maker != kNone) order.push_back(values_[number].maker);
        const std::size_t end = number + 1 < values_.size() ? values_[number + 1].reads : reads_.size();
        for (std::size_t i = values_[number].reads; i < end; ++i) order.push_back(reads_[i]);
      }
    }
    return order;
  }

  // Each refusal goes behind everything called by the time of its own call. If the register holds the refused value
  // there, it goes to the end of that value, unless something there was called after the refusal had returned.
  bool insert_refusals(Numbers& order) {
    std::vector<Instant> latest;  // call among the first i of the order
    Numbers held;                 // value after the first i of the order
    latest.reserve(order.size() + 1);
    held.reserve(order.size() + 1);
    latest.push_back(kBeginning);
    held.push_back(0);
    for (const std::uint32_t number : order) {
      const Operation& operation = operations_[number];
      latest.push_back(std::max(latest.back(), operation.call));
      held.push_back(operation.f == Call::read ? held.back() : index_.find(value_made(operation)));
    }
    Numbers until(held.size());  // where the value held there ends
    for (std::size_t i = held.size(); i-- > 0;) {
      until[i] = i + 1 < held.size() && held[i + 1] == held[i] ? until[i + 1] : static_cast<std::uint32_t>(i + 1);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    for (const std::uint32_t refusal : refusals_) {
      const Operation& operation = operations_[refusal];
      auto place = static_cast<std::size_t>(std::ranges::upper_bound(latest, operation.call) - latest.begin()) - 1;
      const std::uint32_t refused = index_.find(operation.argument);
      if (held[place] == refused) place = until[place];
      if (place == held.size() || latest[place] > operation.ret) return false;
      places.emplace_back(static_cast<std::uint32_t>(place), refusal);
    }
    std::ranges::sort(places);
    Numbers merged;
    merged.reserve(order.size() + places.size());
    auto next = places.begin();
    for (std::uint32_t i = 0; i <= order.size(); ++i) {
      for (; next != places.end() && next->first == i; ++next) merged.push_back(next->second);
      if (i < order.size()) merged.push_back(order[i]);
    }
    order = std::move(merged);
    return true;
  }

  static std::int64_t value_made(const Operation& operation) {
    return operation.f == Call::cas ? operation.result : operation.argument;
  }

  void fail(std::string rule, std::string conclusion, Instant from, Instant to, Numbers core) {
    fault_ = violation(std::move(rule), std::move(conclusion), from, to);
    fault_.core = std::move(core);
  }

  const Promise& promise_;
  Operations operations_;
  const Limits& limits_;
  ValueIndex index_;
  std::vector<Value> values_;  // the initial value first
  std::vector<Zone> zones_;
  std::vector<Place> places_;
  Numbers refusals_;
  Numbers reads_;
  Decision fault_;
};

}  // namespace

void require_register_operation(const Promise& promise, std::size_t number, const Operation& operation) {
  if (operation.f == Call::cas) return;
  if ((operation.f != Call::read && operation.f != Call::write) || operation.refused()) {
    refuse_operation(promise, number, operation);
  }
}

std::optional<Decision> decide_by_zones(const Promise& promise, Operations operations, const Limits& limits) {
  return Zones(promise, operations, limits).decide();
}

}  // namespace holdfast::objects
