#include "checkers/objects/items.h"

#include <algorithm>
#include <limits>
#include <span>

#include "checkers/objects/value_index.h"

namespace holdfast::objects {

namespace {

using Numbers = std::vector<std::uint32_t>;

// While a core is made minimal only small histories are worth a search; it must not take longer than the decision.
constexpr std::size_t kMostSearched = 40;

bool takes(const Operation& operation) {
  return operation.f == Call::extract && operation.ok() && operation.result != kNothing;
}

ValueIndex index_of_inserts(Operations operations) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  std::size_t inserts = 0;
  for (const Operation& operation : operations) {
    if (operation.f != Call::insert) continue;
    ++inserts;
    widen(operation.argument, least, greatest);
  }
  return {least, greatest, inserts};
}

void fail(Items& items, const Operation& operation, std::string rule, std::string conclusion, Numbers core) {
  items.fault = violation(std::move(rule), std::move(conclusion), operation.call, operation.ret);
  items.fault->core = std::move(core);
}

// Takes the extract of a value that is in the index as number `number`.
void take_out(Items& items, Operations operations, std::uint32_t extract, std::uint32_t number) {
  const Operation& operation = operations[extract];
  if (number == kNone) {
    return fail(items, operation, "extracted-from-nowhere", "nobody ever put in " + in_words(operation.result),
                {extract});
  }
  Item& item = items.items[number];
  if (item.extract != kNone) {
    return fail(items, operation, "extracted-twice", in_words(operation.result) + " was put in only once",
                {item.extract, extract});
  }
  if (operation.ret < item.insert_call) {
    return fail(items, operation, "extracted-before-insert",
                in_words(operation.result) + " came out before its insert was even asked for", {extract});
  }
  item.extract = extract;
  item.extract_call = std::max(operation.call, item.insert_call);
  item.extract_ret = operation.ret;
  item.insert_ret = std::min(item.insert_ret, operation.ret);
}

Decision decide_up_to(const Promise& promise, Operations operations, const QuickDecider& quick, const Limits& limits,
                      std::size_t most_searched);

// Cuts where the object is certainly empty and nothing is under way.
class Pieces {
 public:
  Pieces(const Promise& promise, Operations operations, const QuickDecider& quick, const Limits& limits,
         std::size_t most_searched)
      : promise_(promise), operations_(operations), quick_(quick), limits_(limits), most_(most_searched) {}

  Decision decide() {
    choose();
    Decision whole;
    std::size_t begin = 0;
    Instant latest = std::numeric_limits<Instant>::min();
    std::int64_t inside = 0;
    for (std::size_t k = 0; k <= kept_.size(); ++k) {
      const bool end = k == kept_.size();
      if (end || (k > begin && inside == 0 && !unknown_ && operations_[kept_[k]].call > latest)) {
        if (limits_.reached()) return ran_out(begin);
        const Decision decision = decide_piece(begin, k);
        whole.searched += decision.searched;
        if (decision.answer == Answer::undecided) return ran_out(begin);
        if (decision.answer == Answer::violation) return explain(begin, k, decision, whole.searched);
        whole.witness.insert(whole.witness.end(), decision.witness.begin(), decision.witness.end());
        begin = k;
      }
      if (end) break;
      const Operation& operation = operations_[kept_[k]];
      unknown_ = unknown_ || operation.unknown();
      if (operation.f == Call::insert) ++inside;
      if (takes(operation)) --inside;
      if (!operation.unknown()) latest = std::max(latest, operation.ret);
    }
    return whole;
  }

 private:
  // Unknown inserts that nobody extracted are of no use.
  void choose() {
    boost::unordered_flat_map<std::int64_t, bool> taken;
    for (const Operation& operation : operations_) {
      if (takes(operation)) taken[operation.result] = true;
    }
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      const Operation& operation = operations_[i];
      if (operation.unknown() && operation.f == Call::insert && !taken.contains(operation.argument)) continue;
      kept_.push_back(i);
    }
  }

  Decision decide_piece(std::size_t begin, std::size_t end) {
    std::vector<Operation> piece;
    for (std::size_t k = begin; k < end; ++k) piece.push_back(operations_[kept_[k]]);
    Limits limits = limits_;
    whole_ = begin == 0 && end == kept_.size();
    limits.minimal_core = limits.minimal_core && whole_;
    const Items items = pair_items(promise_, piece);
    std::optional<Quick> quick;
    if (items.unique) quick = items.fault ? Quick{*items.fault} : quick_(promise_, piece, items, limits);
    Decision decision;
    if (quick) {
      decision = std::move(quick->decision);
    } else if (piece.size() > most_) {
      return out_of_time();
    } else {
      decision = search(promise_, piece, limits);
      decision.searched = piece.size();
    }
    for (std::uint32_t& number : decision.witness) number = kept_[begin + number];
    for (std::uint32_t& number : decision.core) number = kept_[begin + number];
    return decision;
  }

  [[nodiscard]] Decision ran_out(std::size_t begin) const {
    Decision decision = out_of_time();
    if (begin > 0) decision.proven_until = operations_[kept_[begin]].call;
    return decision;
  }

  // What came before the piece must be taken at its word as far as it could meddle: extracts, which could come late and
  // take something away, and inserts of values that the core speaks of.
  Decision explain(std::size_t begin, std::size_t end, Decision decision, std::uint64_t searched) {
    const std::uint64_t in_piece = decision.searched;
    decision.searched = searched;
    if (whole_ && in_piece > 0) return decision;  // the search has made it minimal
    if (in_piece > 0) {
      decision.rule = "no-order";
      decision.because = "no order of what was put in and taken out explains what was seen";
    }
    Numbers core = decision.core;
    boost::unordered_flat_map<std::int64_t, bool> spoken_of;
    for (const std::uint32_t number : core) {
      const Operation& operation = operations_[number];
      spoken_of[operation.f == Call::insert ? operation.argument : operation.result] = true;
    }
    for (std::size_t k = 0; k < end; ++k) {
      const Operation& operation = operations_[kept_[k]];
      const bool before = k < begin && takes(operation);
      if (before) spoken_of[operation.result] = true;
      if (before ||
          (k < begin && operation.f == Call::insert && operation.ok() && spoken_of.contains(operation.argument))) {
        core.push_back(kept_[k]);
      }
    }
    const std::size_t most_for_this = 2 * (end - begin);
    const Decider exact = [this, most_for_this](const Promise& promise, Operations some, const Limits& limits) {
      return decide_up_to(promise, some, quick_, limits, std::max(kMostSearched, most_for_this));
    };
    if (limits_.minimal_core && !contradictory(promise_, operations_, core, exact, limits_)) {
      core.clear();
      for (const std::uint32_t number : kept_) {
        if (!operations_[number].unknown()) core.push_back(number);
      }
    }
    conclude(decision, promise_, operations_, core, exact, limits_);
    return decision;
  }

  const Promise& promise_;
  Operations operations_;
  const QuickDecider& quick_;
  const Limits& limits_;
  std::size_t most_;  // no larger piece is searched
  Numbers kept_;
  bool unknown_ = false;  // something unknown was called
  bool whole_ = false;    // the piece is all there is
};

Decision decide_up_to(const Promise& promise, Operations operations, const QuickDecider& quick, const Limits& limits,
                      std::size_t most_searched) {
  const Items items = pair_items(promise, operations);
  if (limits.reached()) return out_of_time();
  if (items.unique) {
    std::optional<Quick> answer = items.fault ? Quick{*items.fault} : quick(promise, operations, items, limits);
    if (answer && answer->decision.answer == Answer::violation) {
      const Decider again = [&quick](const Promise& of, Operations some, const Limits& within) {
        return decide_up_to(of, some, quick, within, kMostSearched);
      };
      Limits as_it_is = limits;
      as_it_is.minimal_core = limits.minimal_core && !answer->minimal;
      const Numbers core = answer->decision.core;
      conclude(answer->decision, promise, operations, core, again, as_it_is);
    }
    if (answer) return std::move(answer->decision);
  }
  return Pieces(promise, operations, quick, limits, most_searched).decide();
}

}  // namespace

Items pair_items(const Promise& promise, Operations operations) {
  Items items;
  ValueIndex index = index_of_inserts(operations);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if ((operation.f != Call::insert && operation.f != Call::extract) || operation.refused()) {
      refuse_operation(promise, i, operation);
    }
    if (operation.f != Call::insert) continue;
    if (index.add(operation.argument) != items.items.size()) {
      items.unique = false;
      return items;
    }
    items.items.push_back({.insert_call = operation.call, .insert_ret = operation.ret, .insert = i});
  }
  for (std::uint32_t i = 0; i < operations.size() && !items.fault; ++i) {
    const Operation& operation = operations[i];
    if (operation.f == Call::insert) continue;
    if (operation.unknown()) {
      items.unknown.push_back(i);
    } else if (operation.result == kNothing) {
      items.empties.push_back(i);
    } else {
      take_out(items, operations, i, index.find(operation.result));
    }
  }
  std::erase_if(items.items,
                [&](const Item& item) { return item.extract == kNone && operations[item.insert].unknown(); });
  return items;
}

Decision decide_items(const Promise& promise, Operations operations, const QuickDecider& quick, const Limits& limits) {
  return decide_up_to(promise, operations, quick, limits, operations.size());
}

Cover::Cover(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
  std::erase_if(stretches_, [](const Stretch& each) { return each.from >= each.to; });
  std::ranges::sort(stretches_, {}, &Stretch::from);
  farthest_.reserve(stretches_.size());
  for (std::uint32_t i = 0; i < stretches_.size(); ++i) {
    const bool farther = i == 0 || stretches_[i].to > stretches_[farthest_.back()].to;
    farthest_.push_back(farther ? i : farthest_.back());
  }
}

Instant Cover::free_from(Instant when) const {
  for (;;) {
    const auto next = std::ranges::lower_bound(stretches_, when, {}, &Stretch::from);
    if (next == stretches_.begin()) return when;
    const Stretch& last = stretches_[farthest_[static_cast<std::size_t>(next - stretches_.begin()) - 1]];
    if (last.to <= when) return when;
    when = last.to;
  }
}

std::vector<std::uint32_t> Cover::chain(Instant from, Instant to) const {
  Numbers result;
  for (Instant covered = from; covered <= to;) {
    const auto next = std::ranges::lower_bound(stretches_, covered, {}, &Stretch::from);
    const Stretch& last = stretches_[farthest_[static_cast<std::size_t>(next - stretches_.begin()) - 1]];
    result.push_back(last.item);
    covered = last.to;
  }
  return result;
}

void add_extracts(Operations operations, Instant when, std::vector<std::uint32_t>& core) {
  for (std::uint32_t i = 0; i < operations.size() && operations[i].call <= when; ++i) {
    if (takes(operations[i])) core.push_back(i);
  }
}

std::vector<std::uint32_t> fewest_items(const Items& items, const std::vector<std::uint32_t>& some,
                                        const std::function<bool(const Items&)>& impossible) {
  return minimal_part(some, [&](Numbers numbers) {
    std::ranges::sort(numbers);
    Items fewer;
    for (const std::uint32_t number : numbers) fewer.items.push_back(items.items[number]);
    return impossible(fewer);
  });
}

std::vector<std::uint32_t> core_of_items(Operations operations, const Items& items,
                                         const std::vector<std::uint32_t>& some, Instant when) {
  Numbers core;
  bool stays = false;
  for (const std::uint32_t number : some) {
    const Item& item = items.items[number];
    if (!operations[item.insert].unknown()) core.push_back(item.insert);
    if (item.extract != kNone) core.push_back(item.extract);
    stays = stays || item.extract == kNone;
  }
  if (stays) add_extracts(operations, when, core);
  return core;
}

std::vector<std::uint32_t> core_of_empty(Operations operations, const Items& items, std::uint32_t empty,
                                         const std::vector<std::uint32_t>& chain) {
  Numbers core = core_of_items(operations, items, chain, operations[empty].ret);
  core.push_back(empty);
  return core;
}

}  // namespace holdfast::objects
