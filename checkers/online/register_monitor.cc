#include "checkers/online/register_monitor.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace holdfast::online {

using objects::Call;
using objects::Instant;
using objects::kNever;

namespace {

constexpr Instant kBeginning = std::numeric_limits<Instant>::min();

std::string in_words(std::int64_t value) {
  return value == objects::kNothing ? "nothing" : std::to_string(value);
}

}  // namespace

RegisterMonitor::RegisterMonitor(std::int64_t initial, std::size_t forget_after)
    : forget_after_(forget_after), forget_next_(forget_after) {
  const std::uint32_t chain = new_chain();
  chains_[chain].first = kBeginning;
  values_[initial] = {.effective = true, .chain = chain, .first = kBeginning, .last = kBeginning};
}

void RegisterMonitor::call(std::uint64_t number, const objects::Operation& operation) {
  if (operation.f != Call::read && operation.f != Call::write && operation.f != Call::cas) {
    throw std::invalid_argument("a register has no operation \"" + std::string(to_string(operation.f)) + '"');
  }
  if (violated_) return;
  if (operation.f != Call::read) {
    const bool by_cas = operation.f == Call::cas;
    const std::int64_t made = by_cas ? operation.result : operation.argument;
    const auto [place, fresh] = values_.try_emplace(made);
    if (!fresh) throw std::invalid_argument("a watched register's value is written twice: " + in_words(made));
    place->second = {.maker = number,
                     .made = operation.call,
                     .by_cas = by_cas,
                     .before = operation.argument,
                     .last = operation.call,
                     .last_by = number};
    ++since_forgetting_;
  }
  open_[number] = {operation.f, operation.argument, operation.result, operation.call};
  open_calls_.emplace(operation.call, number);
}

std::optional<RegisterViolation> RegisterMonitor::returned(std::uint64_t number, Returned outcome, std::int64_t result,
                                                           Instant time) {
  if (violated_) return std::nullopt;
  const auto place = open_.find(number);
  if (place == open_.end()) throw std::invalid_argument("an operation that is not under way returned");
  const Request request = place->second;
  std::optional<RegisterViolation> found;
  switch (outcome) {
    case Returned::ok:
      found = request.f == Call::read ? saw(number, request, result, time) : wrote(number, request, time);
      break;
    case Returned::refused:
      if (request.f == Call::cas) found = refused(number, request, time);
      if (!found) found = withdrawn(number, request, time);
      break;
    case Returned::unknown:
      break;
    case Returned::fail:
      found = withdrawn(number, request, time);
      break;
  }
  if (found) {
    forget_everything();
    return found;
  }
  open_.erase(number);
  open_calls_.erase({request.call, number});
  if (since_forgetting_ >= forget_next_) forget();
  return found;
}

std::optional<RegisterViolation> RegisterMonitor::saw(std::uint64_t number, const Request& request, std::int64_t value,
                                                      Instant time) {
  if (auto found = take_effect(number, value, time)) return found;
  Value& seen = values_.find(value)->second;
  if (request.call > seen.later) {
    return violation("stale-read", in_words(value) + " was replaced by compare-and-set before it was read",
                     {seen.later_by, number}, time);
  }
  know(seen, number, request.call, time);
  const std::uint32_t chain = seen.chain;
  if (seen.by_cas) mark_later(seen.before, number, time);
  return extend(number, request, chain, time);
}

std::optional<RegisterViolation> RegisterMonitor::wrote(std::uint64_t number, const Request& request, Instant time) {
  const std::int64_t made = request.f == Call::cas ? request.result : request.argument;
  if (auto found = take_effect(number, made, time)) return found;
  Value& value = values_.find(made)->second;
  value.first = std::min(value.first, time);
  const std::uint32_t chain = value.chain;
  if (value.by_cas) mark_later(value.before, number, time);
  return extend(number, request, chain, time);
}

// The register certainly held u from the first return to the last call of those that know of u.
std::optional<RegisterViolation> RegisterMonitor::refused(std::uint64_t number, const Request& request, Instant time) {
  const auto place = values_.find(request.argument);
  if (place == values_.end() || !place->second.effective) return std::nullopt;
  const Value& value = place->second;
  if (value.first >= request.call || time >= value.last) return std::nullopt;
  return violation("refused-while-held", "the register certainly held " + in_words(request.argument),
                   {value.last_by, number}, time);
}

std::optional<RegisterViolation> RegisterMonitor::withdrawn(std::uint64_t number, const Request& request,
                                                            Instant time) {
  if (request.f == Call::read) return std::nullopt;
  const std::int64_t made = request.f == Call::cas ? request.result : request.argument;
  const auto place = values_.find(made);
  // Forgotten already: then it was effective.
  if (place != values_.end() && place->second.maker == number && !place->second.effective) {
    values_.erase(place);
    return std::nullopt;
  }
  return violation("read-from-nowhere", in_words(made) + " was seen, but its write did not happen", {number}, time);
}

std::optional<RegisterViolation> RegisterMonitor::take_effect(std::uint64_t number, std::int64_t value, Instant time) {
  std::vector<std::int64_t> path;  // from the value back to one that is effective or written plainly
  for (std::int64_t each = value;; each = values_.find(each)->second.before) {
    const auto place = values_.find(each);
    if (place == values_.end()) {
      return violation("read-from-nowhere",
                       in_words(each) + " is not there: it was never written, or others were there since", {number},
                       time);
    }
    if (std::ranges::find(path, each) != path.end()) {
      return violation("read-from-nowhere", in_words(each) + " comes from a circle of compare-and-sets", {number},
                       time);
    }
    if (place->second.effective) break;
    path.push_back(each);
    if (!place->second.by_cas) break;
  }
  for (auto each = path.rbegin(); each != path.rend(); ++each) {
    Value& made = values_.find(*each)->second;
    made.effective = true;
    if (!made.by_cas) {
      made.chain = new_chain();
      Chain& chain = chains_[made.chain];
      chain.first = time;
      chain.first_by = number;
      chain.last_by = made.maker;
      set_last(made.chain, made.made);
    } else if (auto found = join(number, made.before, *each, time)) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<RegisterViolation> RegisterMonitor::join(std::uint64_t number, std::int64_t before, std::int64_t after,
                                                       Instant time) {
  Value& old_value = values_.find(before)->second;
  Value& new_value = values_.find(after)->second;
  if (old_value.replaced) {
    return violation("two-successors", "two compare-and-sets replaced the same " + in_words(before),
                     {new_value.maker, number}, time);
  }
  old_value.replaced = true;
  know(old_value, new_value.maker, new_value.made, time);
  new_value.chain = old_value.chain;
  Chain& chain = chains_[new_value.chain];
  if (new_value.made > chain.last) {
    chain.last_by = new_value.maker;
    set_last(new_value.chain, new_value.made);
  }
  mark_later(before, number, time);
  return contradiction(new_value.chain, time);
}

void RegisterMonitor::know(Value& value, std::uint64_t number, Instant call, Instant time) {
  value.first = std::min(value.first, time);
  if (call <= value.last) return;
  value.last = call;
  value.last_by = number;
}

std::optional<RegisterViolation> RegisterMonitor::extend(std::uint64_t number, const Request& request,
                                                         std::uint32_t chain, Instant time) {
  if (request.call <= chains_[chain].last) return std::nullopt;
  chains_[chain].last_by = number;
  set_last(chain, request.call);
  return contradiction(chain, time);
}

// Those before it in the chain have been marked if it has: each is marked once.
void RegisterMonitor::mark_later(std::int64_t value, std::uint64_t number, Instant time) {
  for (auto place = values_.find(value); place != values_.end() && place->second.later == kNever;) {
    place->second.later = time;
    place->second.later_by = number;
    if (!place->second.by_cas) break;
    place = values_.find(place->second.before);
  }
}

// Is there a chain C with C.first < chain.last and C.last > chain.first?
std::optional<RegisterViolation> RegisterMonitor::contradiction(std::uint32_t number, Instant time) {
  const Chain& chain = chains_[number];
  const auto end =
      static_cast<std::size_t>(std::ranges::lower_bound(chains_, chain.last, {}, &Chain::first) - chains_.begin());
  for (auto [from, to] : {std::pair<std::size_t, std::size_t>{0, std::min<std::size_t>(number, end)},
                          std::pair<std::size_t, std::size_t>{number + std::size_t{1}, end}}) {
    for (from += leaves_, to += leaves_; from < to; from /= 2, to /= 2) {
      std::size_t node = 0;
      if (from % 2 == 1 && greatest_[from] > chain.first) node = from;
      if (to % 2 == 1 && greatest_[to - 1] > chain.first) node = to - 1;
      if (node == 0) {
        from += from % 2;
        continue;
      }
      while (node < leaves_) node = 2 * node + (greatest_[2 * node] > chain.first ? 0 : 1);
      const Chain& other = chains_[node - leaves_];
      std::vector<std::uint64_t> operations;
      for (const std::uint64_t each : {chain.first_by, chain.last_by, other.first_by, other.last_by}) {
        const bool twice = std::ranges::find(operations, each) != operations.end();
        if (each != kNobody && !twice) operations.push_back(each);
      }
      const bool stale = other.last <= other.first || chain.last <= chain.first;
      return violation(stale ? "stale-read" : "two-values-at-once",
                       stale ? "a value was seen after another one had taken its place"
                             : "the register would have to hold two values at the same time",
                       operations, time);
    }
  }
  return std::nullopt;
}

std::uint32_t RegisterMonitor::new_chain() {
  const auto number = static_cast<std::uint32_t>(chains_.size());
  chains_.push_back({.last = kBeginning});
  if (chains_.size() > leaves_) rebuild_tree();
  return number;
}

void RegisterMonitor::rebuild_tree() {
  for (leaves_ = 16; leaves_ < chains_.size();) leaves_ *= 2;
  greatest_.assign(2 * leaves_, kBeginning);
  for (std::size_t i = 0; i < chains_.size(); ++i) greatest_[leaves_ + i] = chains_[i].last;
  for (std::size_t i = leaves_; i-- > 1;) greatest_[i] = std::max(greatest_[2 * i], greatest_[2 * i + 1]);
}

void RegisterMonitor::set_last(std::uint32_t chain, Instant last) {
  chains_[chain].last = last;
  for (std::size_t i = leaves_ + chain; i > 0 && greatest_[i] < last; i /= 2) greatest_[i] = last;
}

// Leaves out what can only contradict when it is seen again, and chains that no living one can contradict.
void RegisterMonitor::forget() {
  const Instant pending = open_calls_.empty() ? kNever : open_calls_.begin()->first;
  // The two greatest `last` among chains that began before everything under way was called.
  std::pair<Instant, std::size_t> greatest{kBeginning, chains_.size()};
  Instant second = kBeginning;
  for (std::size_t i = 0; i < chains_.size() && chains_[i].first < pending; ++i) {
    if (chains_[i].last > greatest.first) {
      second = greatest.first;
      greatest = {chains_[i].last, i};
    } else {
      second = std::max(second, chains_[i].last);
    }
  }
  std::vector<bool> living(chains_.size());
  Instant oldest = kNever;
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    living[i] = (i == greatest.second ? second : greatest.first) <= chains_[i].first;
    if (living[i]) oldest = std::min(oldest, chains_[i].first);
  }
  erase_if(values_, [&](const auto& each) {
    const Value& value = each.second;
    return value.effective && (!living[value.chain] || value.later < pending);
  });
  std::vector<std::uint32_t> moved(chains_.size(), kNoChain);
  std::vector<Chain> kept;
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    if (!living[i] && chains_[i].last <= oldest) continue;
    moved[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(chains_[i]);
  }
  for (auto& [name, value] : values_) {
    if (value.effective) value.chain = moved[value.chain];
  }
  chains_ = std::move(kept);
  rebuild_tree();
  since_forgetting_ = 0;
  forget_next_ = std::max(forget_after_, forget_after_ == 1 ? 1 : values_.size());
}

void RegisterMonitor::forget_everything() {
  open_ = {};
  open_calls_.clear();
  values_ = {};
  chains_ = {};
  greatest_ = {};
}

RegisterViolation RegisterMonitor::violation(std::string rule, std::string because,
                                             std::vector<std::uint64_t> operations, Instant time) {
  violated_ = true;  // from here on nothing is looked at
  return {std::move(rule), std::move(because), std::move(operations), time};
}

}  // namespace holdfast::online
