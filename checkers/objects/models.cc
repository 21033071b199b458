#include "checkers/objects/models.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace holdfast::objects {

namespace {

std::int64_t one_unless_given(std::int64_t number) {
  return number == kNothing ? 1 : number;
}

std::uint64_t scramble(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15U + (hash << 6U) + (hash >> 2U);
  return hash * 0xD6E8FEB86659FD93U;
}

std::string printed(std::int64_t value) {
  return value == kNothing ? "nothing" : std::to_string(value);
}

bool was_refused(const Told* known) {
  return known != nullptr && *known == Told::refused;
}

[[noreturn]] void senseless(const Promise& promise, const Ask& ask) {
  throw std::invalid_argument("a " + std::string(to_string(promise.kind)) + " has no operation \"" +
                              std::string(to_string(ask.f)) + '"');
}

}  // namespace

std::uint32_t owner_of(const Promise& promise, const Operation& operation) {
  if (!is_lock(promise.kind)) return 0;
  return promise.identity == Identity::hold ? operation.hold : operation.process;
}

std::size_t hash_of(const Ask& ask, const Told* known) {
  std::uint64_t hash = scramble(static_cast<std::uint64_t>(ask.f), ask.owner);
  hash = scramble(hash, static_cast<std::uint64_t>(ask.argument));
  hash = scramble(hash, static_cast<std::uint64_t>(ask.result));
  return scramble(hash, known == nullptr ? 2U : static_cast<std::uint64_t>(*known));
}

std::string describe(const Ask& ask, const Told* known) {
  std::string text(to_string(ask.f));
  if (ask.argument != kNothing) text += ' ' + std::to_string(ask.argument);
  if (known == nullptr) return text + " with unknown outcome";
  if (*known == Told::refused) return text + " (refused)";
  if (ask.result != kNothing) text += (ask.f == Call::cas ? " to " : " = ") + std::to_string(ask.result);
  return text;
}

// ---- CellModel

namespace {
constexpr std::int64_t kFree = 0;  // locks: nobody; otherwise 1 + owner. An element of a set: 0 absent, 1 present.
}

porcupine::Cell CellModel::cell(const Ask& ask, const Told* known) const {
  const std::int64_t owner = promise->kind == Kind::anonymous_mutex ? 1 : static_cast<std::int64_t>(ask.owner) + 1;
  const bool refused = was_refused(known);
  const bool is_register = promise->kind == Kind::register_;
  const bool is_set = promise->kind == Kind::set;
  const auto conditional = [refused](std::int64_t from, std::int64_t to) {
    return refused ? porcupine::Cell{.refuses = from} : porcupine::Cell{.wants = from, .leaves = to};
  };
  switch (ask.f) {
    case Call::read:
      if (!is_register) break;
      return known == nullptr ? porcupine::Cell{} : porcupine::Cell{.wants = ask.result};
    case Call::write:
      if (!is_register) break;
      return {.leaves = ask.argument};
    case Call::cas:
      if (!is_register) break;
      return conditional(ask.argument, ask.result);
    case Call::add:
      if (!is_set) break;
      return {.leaves = 1};
    case Call::remove:
      if (!is_set) break;
      return conditional(1, 0);
    case Call::contains:
      if (!is_set) break;
      return known == nullptr ? porcupine::Cell{} : porcupine::Cell{.wants = ask.result != 0 ? 1 : 0};
    case Call::acquire:
      if (is_register || is_set) break;
      return conditional(kFree, owner);
    case Call::release:
      if (is_register || is_set) break;
      return conditional(owner, kFree);
    default:
      break;
  }
  senseless(*promise, ask);
}

std::int64_t CellModel::cell_init() const {
  return promise->kind == Kind::register_ ? promise->initial : 0;
}

std::optional<std::int64_t> CellModel::step(State state, const Ask& ask, const Told* known) const {
  const porcupine::Cell moves = cell(ask, known);
  if (moves.wants && *moves.wants != state) return std::nullopt;
  if (moves.refuses && *moves.refuses == state) return std::nullopt;
  return moves.leaves.value_or(state);
}

bool CellModel::read_only(const Ask& ask, const Told* known) const {
  return !cell(ask, known).leaves.has_value();
}

std::vector<std::vector<std::uint32_t>> CellModel::partition(
    std::span<const porcupine::Operation<CellModel>> operations) const {
  std::vector<std::vector<std::uint32_t>> groups;
  std::unordered_map<std::int64_t, std::size_t> group_of;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const std::int64_t element = promise->kind == Kind::set ? operations[i].input.argument : 0;
    const auto [place, fresh] = group_of.try_emplace(element, groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

std::string CellModel::explain(State state, const Ask& ask, const Told* known) const {
  const auto name = [this](std::int64_t value) -> std::string {
    if (promise->kind == Kind::register_) return "the value " + printed(value);
    if (promise->kind == Kind::set) return value != 0 ? "the element there" : "the element absent";
    if (value == kFree) return "the lock free";
    return promise->kind == Kind::anonymous_mutex ? "the lock held" : "the lock held by " + std::to_string(value - 1);
  };
  const porcupine::Cell moves = cell(ask, known);
  if (moves.wants) return describe(ask, known) + " must find " + name(*moves.wants) + " but finds " + name(state);
  return describe(ask, known) + " must not find " + name(state);
}

// ---- NumberModel

std::int64_t NumberModel::init() const {
  return promise->kind == Kind::counter && promise->initial != kNothing ? promise->initial : 0;
}

std::optional<std::int64_t> NumberModel::step(State state, const Ask& ask, const Told* known) const {
  const bool counter = promise->kind == Kind::counter;
  const bool refused = was_refused(known);
  if (counter && ask.f == Call::read) {
    return known == nullptr || state == ask.result ? std::optional(state) : std::nullopt;
  }
  if (counter && ask.f == Call::increment) return state + one_unless_given(ask.argument);
  if (!counter && ask.f == Call::acquire) {
    const bool full = state == static_cast<std::int64_t>(promise->permits);
    if (refused) return full ? std::optional(state) : std::nullopt;
    return full ? std::nullopt : std::optional(state + 1);
  }
  if (!counter && ask.f == Call::release) {
    if (refused) return state == 0 ? std::optional(state) : std::nullopt;
    return state == 0 ? std::nullopt : std::optional(state - 1);
  }
  senseless(*promise, ask);
}

bool NumberModel::read_only(const Ask& ask, const Told* known) {
  return ask.f == Call::read || was_refused(known);
}

std::string NumberModel::explain(State state, const Ask& ask, const Told* known) const {
  const char* what = promise->kind == Kind::counter ? "the count is " : "so many permits are held: ";
  return describe(ask, known) + " is not possible: " + what + std::to_string(state);
}

// ---- OwnerModel

std::optional<OwnerModel::State> OwnerModel::step(const State& state, const Ask& ask, const Told* known) const {
  const bool held = state.count > 0;
  const bool mine = held && state.holder == ask.owner;
  State next = state;
  if (ask.f == Call::release) {
    if (was_refused(known)) return mine ? std::nullopt : std::optional(state);
    if (!mine) return std::nullopt;
    if (--next.count == 0) next.holder = kNone;
    return next;
  }
  if (ask.f != Call::acquire) senseless(*promise, ask);
  if (was_refused(known)) return held ? std::optional(state) : std::nullopt;
  if (held && (!mine || state.count >= promise->reentrancy)) return std::nullopt;
  next.holder = ask.owner;
  ++next.count;
  if (promise->kind != Kind::fenced_mutex) return next;
  if (held) return known != nullptr && ask.result != state.token ? std::nullopt : std::optional(next);
  if (known == nullptr) {
    ++next.token;
    return next;
  }
  const bool allowed = promise->fence == FenceRule::by_one ? ask.result == state.token + 1 : ask.result > state.token;
  if (!allowed) return std::nullopt;
  next.token = ask.result;
  return next;
}

std::size_t OwnerModel::hash(const State& state) {
  return scramble(scramble(state.holder, state.count), static_cast<std::uint64_t>(state.token));
}

bool OwnerModel::read_only(const Ask& /*ask*/, const Told* known) {
  return was_refused(known);
}

std::string OwnerModel::explain(const State& state, const Ask& ask, const Told* known) const {
  std::string text = describe(ask, known) + " by " + std::to_string(ask.owner) + " is not possible: ";
  text += state.count == 0 ? "the lock is free" : "the lock is held by " + std::to_string(state.holder);
  if (state.count > 1) text += ' ' + std::to_string(state.count) + " times";
  if (promise->kind == Kind::fenced_mutex) text += ", the last token was " + std::to_string(state.token);
  return text;
}

// ---- TextModel

TextModel::TextModel(const Promise& object, Operations operations) : ObjectModel{&object} {
  for (const Operation& each : operations) {
    if (each.f == Call::read && !each.unknown()) read_.push_back(text(each.result));
    if (each.f == Call::write) last_write_ = std::max(last_write_, each.ret);
  }
  read_.emplace_back();  // where it all begins
  std::ranges::sort(read_);
  read_.erase(std::ranges::unique(read_).begin(), read_.end());
  for (const Operation& each : operations) {
    if (each.f != Call::read || each.unknown()) continue;
    const auto place = std::ranges::lower_bound(read_, text(each.result));
    calls_.emplace_back(each.call, static_cast<std::uint32_t>(place - read_.begin()));
  }
  std::ranges::sort(calls_);
}

const std::string& TextModel::text(std::int64_t number) const {
  return promise->texts.at(static_cast<std::size_t>(number));
}

TextModel::State TextModel::init() const {
  return {.text = 0, .length = 0};
}

// The read texts that begin with a state stand side by side, so those that go on with `more` do too.
TextModel::State TextModel::extended(State state, const std::string& more) const {
  if (state.text == kNone || more.empty()) return state;
  const std::string_view begin = std::string_view(read_[state.text]).substr(0, state.length);
  const auto before = [&](const std::string& candidate, const std::string& wanted) {
    const int order = std::string_view(candidate).substr(0, state.length).compare(begin);
    if (order != 0) return order < 0;
    return std::string_view(candidate).substr(state.length, wanted.size()) < wanted;
  };
  const auto place = std::lower_bound(read_.begin() + state.text, read_.end(), more, before);
  if (place == read_.end() || place->compare(0, state.length, begin) != 0 ||
      place->compare(state.length, more.size(), more) != 0) {
    return {};
  }
  return {static_cast<std::uint32_t>(place - read_.begin()), state.length + static_cast<std::uint32_t>(more.size())};
}

std::optional<TextModel::State> TextModel::step(const State& state, const Ask& ask, const Told* known) const {
  switch (ask.f) {
    case Call::read: {
      if (known == nullptr) return state;
      const std::string& seen = text(ask.result);
      const bool same =
          state.text != kNone && seen.size() == state.length && read_[state.text].compare(0, state.length, seen) == 0;
      return same ? std::optional(state) : std::nullopt;
    }
    case Call::write:
      return extended(init(), text(ask.argument));
    case Call::append:
      return extended(state, text(ask.argument));
    default:
      senseless(*promise, ask);
  }
}

std::size_t TextModel::hash(const State& state) {
  return scramble(state.text, state.length);
}

bool TextModel::read_only(const Ask& ask, const Told* /*known*/) {
  return ask.f == Call::read;
}

bool TextModel::doomed(const State& state, porcupine::Instant now) const {
  if (last_write_ >= now) return false;
  const auto next = std::ranges::upper_bound(calls_, std::pair(now, kNone));
  if (next == calls_.end()) return false;
  return state.text == kNone || read_[next->second].compare(0, state.length, read_[state.text], 0, state.length) != 0;
}

std::string TextModel::explain(const State& state, const Ask& ask, const Told* known) const {
  const std::string there =
      state.text == kNone ? "something else" : '"' + read_[state.text].substr(0, state.length) + '"';
  if (ask.f != Call::read || known == nullptr) return describe(ask, known) + " is not possible";
  return "a read of \"" + text(ask.result) + "\" must not find " + there;
}

}  // namespace holdfast::objects
