// The moves of any model. Small states that can be copied as bytes stand in the configurations themselves; others are
// kept once in a table, with a second table that remembers where each class of operations leads from each state.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "checkers/porcupine/config.h"
#include "checkers/porcupine/model.h"

namespace holdfast::porcupine {

// What both searches share and nobody changes.
template <Model M>
struct GeneralFacts {
  const M* model = nullptr;
  std::span<const Operation<M>> operations;
  std::vector<std::uint32_t> example;  // class -> number of an operation of it, in `operations`
  bool shared_classes = false;         // some class has more than one operation

  [[nodiscard]] std::size_t bytes() const { return example.capacity() * 4; }
};

template <Model M>
inline constexpr bool kSmallState = std::is_trivially_copyable_v<typename M::State> && sizeof(typename M::State) <= 16;

template <Model M>
class StatesInPlace {
 public:
  using Handle = typename M::State;
  explicit StatesInPlace(const GeneralFacts<M>& facts) : facts_(&facts) {}
  [[nodiscard]] Handle start() const { return facts_->model->init(); }
  [[nodiscard]] std::uint64_t hash(const Handle& state) const { return mix(facts_->model->hash(state)); }
  [[nodiscard]] const Handle& state(const Handle& handle) const { return handle; }
  [[nodiscard]] std::optional<Handle> step(const Handle& state, std::uint32_t cls) const {
    const Operation<M>& operation = facts_->operations[facts_->example[cls]];
    return facts_->model->step(state, operation.input, operation.known());
  }
  [[nodiscard]] static std::size_t bytes() { return 0; }
  [[nodiscard]] static bool garbage() { return false; }
  template <class Conf>
  void collect(std::vector<Conf>& /*alive*/) {}

 private:
  const GeneralFacts<M>* facts_;
};

template <Model M>
class StatesInTable {
 public:
  using Handle = std::uint32_t;
  explicit StatesInTable(const GeneralFacts<M>& facts) : facts_(&facts) {}
  [[nodiscard]] Handle start() { return number_of(facts_->model->init()); }
  [[nodiscard]] static std::uint64_t hash(Handle state) { return mix(state + 0x2545F491U); }
  [[nodiscard]] const typename M::State& state(Handle handle) const { return states_[handle].state; }

  [[nodiscard]] std::optional<Handle> step(Handle from, std::uint32_t cls) {
    const std::uint64_t key = (std::uint64_t{from} << 32U) | cls;
    if (facts_->shared_classes) {
      const auto known = steps_.find(key);
      if (known != steps_.end()) return known->second == kNone ? std::nullopt : std::optional(known->second);
    }
    const Operation<M>& operation = facts_->operations[facts_->example[cls]];
    std::optional<typename M::State> next =
        facts_->model->step(states_[from].state, operation.input, operation.known());
    const Handle to = next ? number_of(std::move(*next)) : kNone;
    if (facts_->shared_classes) steps_.emplace(key, to);
    return to == kNone ? std::nullopt : std::optional(to);
  }
  [[nodiscard]] std::size_t bytes() const { return heap_ + (by_hash_.bucket_count() + steps_.bucket_count()) * 18; }
  [[nodiscard]] bool garbage() const { return states_.size() > 65'536 && states_.size() > alive_ * 8; }

  // Keeps only the states of these configurations, and numbers them anew.
  template <class Conf>
  void collect(std::vector<Conf>& alive) {
    std::deque<Entry> old;
    old.swap(states_);
    by_hash_.clear();
    steps_.clear();
    heap_ = 0;
    boost::unordered_flat_map<Handle, Handle> moved;
    for (Conf& conf : alive) {
      const auto [place, fresh] = moved.try_emplace(conf.state, 0);
      if (fresh) place->second = number_of(std::move(old[conf.state].state));
      conf.state = place->second;
    }
    alive_ = states_.size();
  }

 private:
  struct Entry {
    typename M::State state;
    Handle next = kNone;  // with the same hash
  };
  Handle number_of(typename M::State&& state) {
    const auto [place, fresh] = by_hash_.try_emplace(mix(facts_->model->hash(state)), kNone);
    for (Handle each = place->second; each != kNone; each = states_[each].next) {
      if (states_[each].state == state) return each;
    }
    heap_ += sizeof(Entry) + heap_of(state);
    states_.push_back({std::move(state), place->second});
    place->second = static_cast<Handle>(states_.size() - 1);
    return place->second;
  }
  static std::size_t heap_of(const typename M::State& state) {
    if constexpr (requires { state.capacity() * sizeof(state[0]); }) {
      return state.capacity() * sizeof(state[0]) + 16;
    } else {
      return 64;
    }
  }

  const GeneralFacts<M>* facts_;
  std::deque<Entry> states_;
  boost::unordered_flat_map<std::uint64_t, Handle> by_hash_;
  boost::unordered_flat_map<std::uint64_t, Handle> steps_;
  std::size_t heap_ = 0;
  std::size_t alive_ = 0;
};

template <Model M, std::size_t W>
class GeneralSpace {
 public:
  using States = std::conditional_t<kSmallState<M>, StatesInPlace<M>, StatesInTable<M>>;
  using State = typename States::Handle;
  using Conf = Config<State, W>;

  GeneralSpace(const GeneralFacts<M>& facts, const Timeline& timeline)
      : facts_(&facts),
        timeline_(&timeline),
        window_(timeline),
        marks_(timeline, window_, usage_),
        states_(facts),
        twin_seen_(timeline.classes(), 0) {}

  [[nodiscard]] Conf start() {
    Conf conf;
    conf.state = states_.start();
    return conf;
  }
  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] const Marks<W>& marks() const { return marks_; }
  [[nodiscard]] UsageTable& usage() { return usage_; }
  [[nodiscard]] const Bits<W>& eager_slots() const { return eager_slots_; }
  [[nodiscard]] std::uint64_t hash(const State& state) const { return states_.hash(state); }
  [[nodiscard]] std::size_t bytes() const {
    return window_.bytes() + usage_.bytes() + states_.bytes() + twin_seen_.capacity() * 4;
  }
  [[nodiscard]] bool garbage() const { return states_.garbage(); }
  void collect_garbage(std::vector<Conf>& alive) { states_.collect(alive); }

  void forward() {
    const std::uint32_t place = window_.place();
    window_.forward();
    note_eager(timeline_->op_at(place), !timeline_->is_return(place));
  }
  void backward() {
    window_.backward();
    note_eager(timeline_->op_at(window_.place()), timeline_->is_return(window_.place()));
  }

  void called(Conf& conf, std::uint32_t number, Trail& trail) {
    if (timeline_->has_ties()) return read(conf, trail);
    if (states_.step(conf.state, timeline_->op(number).cls)) marks_.mark(conf, number, trail);
  }
  void normalise(Conf& /*conf*/) {}
  void settle(Conf& /*conf*/, Trail& /*trail*/) {}

  bool try_op(Conf& conf, std::uint32_t number, Trail& trail) {
    std::optional<State> next = states_.step(conf.state, timeline_->op(number).cls);
    if (!next) return false;
    marks_.mark(conf, number, trail);
    return arrive(conf, *next, trail);
  }
  bool try_unknown(Conf& conf, std::uint32_t cls, Trail& trail) {
    if (usage_.count(conf.usage, cls) >= window_.called(cls)) return false;
    std::optional<State> next = states_.step(conf.state, cls);
    if (!next || *next == conf.state) return false;
    conf.usage = usage_.add(conf.usage, cls);
    trail.push_back(kUnknownUse | cls);
    return arrive(conf, *next, trail);
  }

  // What may come next, earliest return first, unknown operations last.
  void candidates(const Conf& conf, std::uint32_t /*due*/, std::vector<std::uint32_t>& out) {
    out.clear();
    ++stamp_;
    for (const std::uint32_t number : window_.movers()) {
      const Timeline::Op& op = timeline_->op(number);
      if (conf.done.test(op.slot)) continue;
      if (op.twin && twin_seen_[op.cls] == stamp_) continue;
      if (op.twin) twin_seen_[op.cls] = stamp_;
      if (marks_.free_to_go(conf.done, number)) out.push_back(number);
    }
    marks_.each_in_chains(conf, [&](std::uint32_t number) { out.push_back(number); });
    for (const std::uint32_t cls : window_.unknown_classes()) {
      if (usage_.count(conf.usage, cls) < window_.called(cls)) out.push_back(kUnknownUse | cls);
    }
  }

 private:
  bool arrive(Conf& conf, const State& next, Trail& trail) {
    conf.state = next;
    read(conf, trail);
    if constexpr (HasDoomed<M>) {
      const std::uint32_t due = timeline_->op(timeline_->op_at(window_.place())).original;
      return !facts_->model->doomed(states_.state(conf.state), facts_->operations[due].ret);
    }
    return true;
  }
  void read(Conf& conf, Trail& trail) {
    for (bool more = true; more;) {
      more = false;
      for (const std::uint32_t number : window_.readers()) {
        const Timeline::Op& op = timeline_->op(number);
        if (conf.done.test(op.slot) || !marks_.free_to_go(conf.done, number)) continue;
        if (!states_.step(conf.state, op.cls)) continue;
        marks_.mark(conf, number, trail);
        more = timeline_->has_ties();
      }
    }
  }
  void note_eager(std::uint32_t number, bool pending) {
    const Timeline::Op& op = timeline_->op(number);
    if (op.eager && op.slot != kNoSlot) pending ? eager_slots_.set(op.slot) : eager_slots_.clear(op.slot);
  }

  const GeneralFacts<M>* facts_;
  const Timeline* timeline_;
  Window window_;
  UsageTable usage_;
  Marks<W> marks_;
  States states_;
  Bits<W> eager_slots_;
  std::vector<std::uint32_t> twin_seen_;
  std::uint32_t stamp_ = 0;
};

}  // namespace holdfast::porcupine
