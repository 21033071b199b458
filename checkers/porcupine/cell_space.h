// The moves of an object whose whole state is one value (Cell of model.h). Values are numbered; 0 stands for every
// value that nobody refers to any more: such states are equal.
//
// Three rules beyond plain stepping, each exact:
//  * A value that somebody still needs and nobody can bring back is not left.
//  * A value that nobody can bring back again is not entered while an operation is open that returns before the last
//    one who needs the value is called: it would have to take effect in between and would end the value.
//  * From a state that nobody needs, a write all of whose readers are already there is done together with them at
//    once: it leads back to such a state and has removed obligations. (Not while it might be wanted to drive away a
//    value that a refused operation must not find.)
// With unique values these leave about one configuration per pending write, where plain search has one per subset.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "checkers/porcupine/config.h"
#include "checkers/porcupine/model.h"

namespace holdfast::porcupine {

// One class of operations in numbered values; kNone: does not care, does not change.
struct CellClass {
  std::uint32_t wants = kNone;
  std::uint32_t refuses = kNone;
  std::uint32_t leaves = kNone;
};

// The part that both searches share and nobody changes.
struct CellFacts {
  struct Value {
    std::uint32_t needs = 0;      // known operations that must find it
    std::uint32_t supplies = 0;   // known operations, and unknown ones of sessions, that leave it
    std::uint32_t mentions = 0;   // refused and unknown operations that can tell it from others
    std::uint32_t refusals = 0;   // of the mentions, those that must not find it
    std::uint32_t last_need = 0;  // place of the last call that needs it
  };
  std::vector<CellClass> classes;
  std::vector<Value> values;
  bool refusals = false;                                                            // some operation refuses a value
  boost::unordered_flat_map<std::uint32_t, std::vector<std::uint32_t>> unknown_to;  // value -> unknown classes
  std::vector<std::uint32_t> unknown_conditional;                                   // unknown classes that want a value
  std::uint32_t initial = 0;
  std::uint32_t hopeless = kNone;  // the first known operation, by return, that finds what nobody ever leaves

  CellFacts(std::vector<CellClass> all, std::uint32_t start, std::uint32_t value_count, const Timeline& timeline)
      : classes(std::move(all)), values(value_count), initial(start) {
    std::vector<bool> seen(classes.size());
    for (std::uint32_t i = 0; i < timeline.size(); ++i) {
      const Timeline::Op& op = timeline.op(i);
      const CellClass& cell = classes[op.cls];
      if (timeline.counts(op)) {
        note_unknown(op.cls, seen);
        continue;
      }
      if (cell.wants != kNone && op.known) {
        ++values[cell.wants].needs;
        values[cell.wants].last_need = op.call_at;
      }
      if (cell.wants != kNone && !op.known) ++values[cell.wants].mentions;
      if (cell.refuses != kNone) ++values[cell.refuses].mentions;
      if (cell.refuses != kNone) ++values[cell.refuses].refusals;
      refusals = refusals || cell.refuses != kNone;
      if (cell.leaves != kNone) ++values[cell.leaves].supplies;
    }
    find_hopeless(timeline);
  }
  [[nodiscard]] std::size_t bytes() const {
    return classes.capacity() * sizeof(CellClass) + values.capacity() * sizeof(Value) + unknown_to.bucket_count() * 50;
  }

 private:
  void find_hopeless(const Timeline& timeline) {
    for (std::uint32_t i = 0; i < timeline.size(); ++i) {
      const Timeline::Op& op = timeline.op(i);
      const std::uint32_t wants = classes[op.cls].wants;
      if (!op.known || wants == kNone || wants == initial || values[wants].supplies > 0) continue;
      if (unknown_to.contains(wants)) continue;
      if (hopeless == kNone || op.return_at < timeline.op(hopeless).return_at) hopeless = i;
    }
  }
  void note_unknown(std::uint32_t cls, std::vector<bool>& seen) {
    const CellClass& cell = classes[cls];
    if (seen[cls] || cell.leaves == kNone) return;
    seen[cls] = true;
    unknown_to[cell.leaves].push_back(cls);
    if (cell.wants == kNone) return;
    unknown_conditional.push_back(cls);
    ++values[cell.wants].mentions;
  }
};

template <std::size_t W>
class CellSpace {
 public:
  using State = std::uint32_t;
  using Conf = Config<State, W>;

  CellSpace(const CellFacts& facts, const Timeline& timeline)
      : facts_(&facts),
        timeline_(&timeline),
        window_(timeline),
        marks_(timeline, window_, usage_),
        left_(facts.values),
        masks_at_(facts.values.size(), 0),
        masks_(1),
        wanted_(facts.values.size(), 0),
        twin_seen_(facts.classes.size(), 0) {}

  [[nodiscard]] Conf start() {
    Conf conf;
    conf.state = facts_->initial;
    normalise(conf);
    return conf;
  }
  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] const Marks<W>& marks() const { return marks_; }
  [[nodiscard]] UsageTable& usage() { return usage_; }
  [[nodiscard]] const Bits<W>& eager_slots() const { return eager_slots_; }
  [[nodiscard]] static std::uint64_t hash(State state) { return mix(state + 0x51ED270B7A03U); }
  [[nodiscard]] std::size_t bytes() const {
    return window_.bytes() + usage_.bytes() + left_.capacity() * sizeof(CellFacts::Value) +
           (masks_at_.capacity() + wanted_.capacity() + twin_seen_.capacity()) * 4 + masks_.capacity() * sizeof(Masks);
  }
  void collect_garbage(std::vector<Conf>& /*alive*/) {}
  [[nodiscard]] static bool garbage() { return false; }

  void forward() {
    const std::uint32_t place = window_.place();
    const std::uint32_t number = timeline_->op_at(place);
    window_.forward();
    if (timeline_->is_return(place)) {
      mark_pending(number, false);
      count_chain(number, -1);
      return;
    }
    if (timeline_->op(number).known) count_future(number, -1);
    mark_pending(number, true);
    if (timeline_->counts(timeline_->op(number)) && left_[class_of(number).leaves].refusals > 0) ++loose_;
  }
  void backward() {
    window_.backward();
    const std::uint32_t number = timeline_->op_at(window_.place());
    if (timeline_->is_return(window_.place())) {
      mark_pending(number, true);
      count_chain(number, 1);
      return;
    }
    if (timeline_->op(number).known) count_future(number, 1);
    mark_pending(number, false);
    if (timeline_->counts(timeline_->op(number)) && left_[class_of(number).leaves].refusals > 0) --loose_;
  }

  // An eager operation was called: it is done where it is legal.
  void called(Conf& conf, std::uint32_t /*number*/, Trail& trail) { read(conf, trail); }

  // Makes equal what the future cannot tell apart.
  void normalise(Conf& conf) {
    if (conf.state != 0 && !mentioned(conf.state, conf.done)) conf.state = 0;
    if (conf.usage == 0 || facts_->refusals) return;
    conf.usage = usage_.without(conf.usage, [this](std::uint32_t cls) {
      return cls < timeline_->classes() && !mentioned(facts_->classes[cls].leaves, Bits<W>{});
    });
  }

  void settle(Conf& conf, Trail& trail) {
    normalise(conf);
    if (conf.state == 0) finish_writes(conf, trail);
  }

  bool try_op(Conf& conf, std::uint32_t number, Trail& trail) {
    const CellClass& cell = class_of(number);
    if (!allows(cell, conf.state)) return false;
    const State before = conf.state;
    marks_.mark(conf, number, trail);
    if (cell.leaves != kNone) conf.state = cell.leaves;
    return arrive(conf, before, trail);
  }
  bool try_unknown(Conf& conf, std::uint32_t cls, Trail& trail) {
    const CellClass& cell = facts_->classes[cls];
    if (!allows(cell, conf.state) || cell.leaves == conf.state ||
        usage_.count(conf.usage, cls) >= window_.called(cls)) {
      return false;
    }
    const State before = conf.state;
    conf.usage = usage_.add(conf.usage, cls);
    conf.state = cell.leaves;
    trail.push_back(kUnknownUse | cls);
    return arrive(conf, before, trail);
  }

  // What may come next where `due` must be done soon, most promising first.
  void candidates(const Conf& conf, std::uint32_t due, std::vector<std::uint32_t>& out) {
    out.clear();
    const bool held = needed(conf.state, conf.done) && !supplied(conf.state, conf);
    const std::uint32_t want = class_of(due).wants;
    if (want != kNone && want != conf.state && !supplied(want, conf)) return;
    ++stamp_;
    const auto offer = [&](bool direct) {
      for (const std::uint32_t number : window_.movers()) {
        const Timeline::Op& op = timeline_->op(number);
        const CellClass& cell = facts_->classes[op.cls];
        if (conf.done.test(op.slot) || !allows(cell, conf.state)) continue;
        if ((number == due || (want != kNone && cell.leaves == want)) != direct) continue;
        if (held && cell.wants != conf.state && cell.leaves != kNone) continue;
        if (op.twin && twin_seen_[op.cls] == stamp_) continue;
        if (op.twin) twin_seen_[op.cls] = stamp_;
        if (marks_.free_to_go(conf.done, number)) out.push_back(number);
      }
    };
    offer(true);
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    offer(false);
    if (held) return;
    marks_.each_in_chains(conf, [&](std::uint32_t number) {
      const CellClass& cell = class_of(number);
      if (allows(cell, conf.state) && cell.leaves != conf.state) out.push_back(number);
    });
    if (window_.unknown_classes().empty()) return;
    if (want != kNone && want != conf.state) {
      const auto direct = facts_->unknown_to.find(want);
      if (direct != facts_->unknown_to.end()) {
        wanted_[want] = ++wanted_stamp_;
        for (const std::uint32_t cls : direct->second) {
          if (usable(conf, cls)) out.insert(out.begin() + first, kUnknownUse | cls);
        }
        offer_unknown(conf, out);
        return;
      }
    }
    ++wanted_stamp_;
    offer_unknown(conf, out);
  }

 private:
  struct Masks {  // of the pending operations that concern one value
    Bits<W> readers;
    Bits<W> takers;  // known, want it and change it
    Bits<W> mentions;
    Bits<W> refusers;
    Bits<W> supplies;
    std::uint32_t users = 0;
  };

  [[nodiscard]] const CellClass& class_of(std::uint32_t number) const {
    return facts_->classes[timeline_->op(number).cls];
  }
  [[nodiscard]] const Masks& masks(State value) const { return masks_[masks_at_[value]]; }
  [[nodiscard]] static bool allows(const CellClass& cell, State state) {
    return (cell.wants == kNone || cell.wants == state) && cell.refuses != state;
  }
  [[nodiscard]] bool needed(State value, const Bits<W>& done) const {
    const Masks& mask = masks(value);
    return left_[value].needs > 0 || mask.readers.beyond(done) || mask.takers.beyond(done);
  }
  [[nodiscard]] bool mentioned(State value, const Bits<W>& done) const {
    return value != 0 && (left_[value].mentions > 0 || needed(value, done) || masks(value).mentions.beyond(done));
  }
  [[nodiscard]] bool supplied(State value, const Conf& conf) const {
    if (left_[value].supplies > 0 || masks(value).supplies.beyond(conf.done)) return true;
    if (facts_->unknown_to.empty()) return false;
    const auto unknown = facts_->unknown_to.find(value);
    if (unknown == facts_->unknown_to.end()) return false;
    return std::ranges::any_of(unknown->second,
                               [&](std::uint32_t cls) { return usage_.count(conf.usage, cls) < window_.total(cls); });
  }
  [[nodiscard]] bool usable(const Conf& conf, std::uint32_t cls) const {
    const CellClass& cell = facts_->classes[cls];
    return allows(cell, conf.state) && cell.leaves != conf.state && usage_.count(conf.usage, cls) < window_.called(cls);
  }

  // Unknown operations are worth a try only if somebody who is there refers to what they leave, or to drive away a
  // value that a refused operation must not find.
  void offer_unknown(const Conf& conf, std::vector<std::uint32_t>& out) {
    if (masks(conf.state).refusers.beyond(conf.done)) {
      for (const std::uint32_t cls : window_.unknown_classes()) {
        if (usable(conf, cls)) out.push_back(kUnknownUse | cls);
      }
      return;
    }
    const auto offer = [&](std::uint32_t value) {
      if (value == kNone || value == conf.state || wanted_[value] == wanted_stamp_) return;
      wanted_[value] = wanted_stamp_;
      const auto unknown = facts_->unknown_to.find(value);
      if (unknown == facts_->unknown_to.end()) return;
      for (const std::uint32_t cls : unknown->second) {
        if (usable(conf, cls)) out.push_back(kUnknownUse | cls);
      }
    };
    for (const auto* list : {&window_.movers(), &window_.readers()}) {
      for (const std::uint32_t number : *list) {
        if (!conf.done.test(timeline_->op(number).slot)) offer(class_of(number).wants);
      }
    }
    marks_.each_in_chains(conf, [&](std::uint32_t number) { offer(class_of(number).wants); });
    for (const std::uint32_t cls : facts_->unknown_conditional) {
      if (window_.called(cls) > 0) offer(facts_->classes[cls].wants);
    }
  }

  bool arrive(Conf& conf, State before, Trail& trail) {
    if (conf.state != before && needed(before, conf.done) && !supplied(before, conf)) return false;
    read(conf, trail);
    if (facts_->values[conf.state].last_need >= window_.place() && !supplied(conf.state, conf)) {
      const std::uint32_t until = facts_->values[conf.state].last_need;
      for (const auto* list : {&window_.movers(), &window_.readers()}) {
        for (const std::uint32_t number : *list) {
          if (timeline_->op(number).return_at >= until) break;  // by return
          if (conf.done.test(timeline_->op(number).slot)) continue;
          if (class_of(number).leaves != kNone || !allows(class_of(number), conf.state)) return false;
        }
      }
    }
    settle(conf, trail);
    return true;
  }

  void read(Conf& conf, Trail& trail) {
    const auto legal = [&] {
      const Masks& mask = masks(conf.state);
      Bits<W> now = refusers_.minus(mask.refusers);
      now.add(mask.readers.both(eager_slots_));
      return now.minus(conf.done);
    };
    Bits<W> now = legal();
    if (!timeline_->has_ties()) {
      now.each([&](std::uint32_t slot) { trail.push_back(window_.in_slot(slot)); });
      conf.done.add(now);
      return;
    }
    for (bool more = true; more;) {
      more = false;
      legal().each([&](std::uint32_t slot) {
        const std::uint32_t number = window_.in_slot(slot);
        if (!marks_.free_to_go(conf.done, number)) return;
        marks_.mark(conf, number, trail);
        more = true;
      });
    }
  }

  void finish_writes(Conf& conf, Trail& trail) {
    for (const std::uint32_t number : window_.movers()) {
      const Timeline::Op& op = timeline_->op(number);
      const CellClass& cell = facts_->classes[op.cls];
      if (conf.done.test(op.slot) || cell.wants != kNone || cell.leaves == kNone) continue;
      if (left_[cell.leaves].mentions > 0 || left_[cell.leaves].needs > 0) continue;
      if (op.chain != kNone || !marks_.free_to_go(conf.done, number)) continue;
      if (facts_->refusals && !expendable(conf, op.return_at)) return;  // those after it return later still
      Conf after = conf;
      const std::size_t length = trail.size();
      marks_.mark(after, number, trail);
      after.state = cell.leaves;
      if (finish_chain(after, trail)) {
        conf = after;
      } else {
        trail.resize(length);
      }
    }
  }
  // Follows takers from a freshly written value until nobody refers to the value reached.
  bool finish_chain(Conf& conf, Trail& trail) {
    for (;;) {
      read(conf, trail);
      if (!mentioned(conf.state, conf.done)) break;
      if (left_[conf.state].needs > 0 || left_[conf.state].mentions > 0) return false;
      const Masks& mask = masks(conf.state);
      const Bits<W> takers = mask.takers.minus(conf.done);
      if (takers.count() != 1 || mask.readers.beyond(conf.done) || mask.mentions.beyond(conf.done)) return false;
      std::uint32_t taker = kNone;
      takers.each([&](std::uint32_t slot) { taker = window_.in_slot(slot); });
      const CellClass& cell = class_of(taker);
      if (cell.leaves == kNone || cell.leaves == conf.state) return false;
      if (timeline_->op(taker).chain != kNone || !marks_.free_to_go(conf.done, taker)) return false;
      marks_.mark(conf, taker, trail);
      conf.state = cell.leaves;
    }
    conf.state = 0;
    return true;
  }
  // A write that is done now cannot end another value later. That is a loss only if a value which somebody will have to
  // miss can be entered before the write returns.
  [[nodiscard]] bool expendable(const Conf& conf, std::uint32_t until) const {
    if (loose_ > 0 || timeline_->chains() > 0 || refusing_.beyond(conf.done)) return false;
    const auto to_be_missed = [this](std::uint32_t number) {
      const std::uint32_t leaves = class_of(number).leaves;
      return leaves != kNone && left_[leaves].refusals > 0;
    };
    for (const std::uint32_t number : window_.movers()) {
      if (!conf.done.test(timeline_->op(number).slot) && to_be_missed(number)) return false;
    }
    for (std::uint32_t place = window_.place(); place < until; ++place) {
      if (!timeline_->is_return(place) && to_be_missed(timeline_->op_at(place))) return false;
    }
    return true;
  }

  void count_future(std::uint32_t number, int change) {
    const Timeline::Op& op = timeline_->op(number);
    const auto count = [change](std::uint32_t& counter) { counter += static_cast<std::uint32_t>(change); };
    const CellClass& cell = facts_->classes[op.cls];
    if (cell.wants != kNone) count(op.known ? left_[cell.wants].needs : left_[cell.wants].mentions);
    if (cell.refuses != kNone) {
      count(left_[cell.refuses].mentions);
      const bool had = left_[cell.refuses].refusals > 0;
      count(left_[cell.refuses].refusals);
      if (had != (left_[cell.refuses].refusals > 0)) count_loose(cell.refuses, change);
    }
    if (cell.leaves != kNone) count(left_[cell.leaves].supplies);
  }
  void count_loose(State value, int change) {
    const auto unknown = facts_->unknown_to.find(value);
    if (unknown == facts_->unknown_to.end()) return;
    for (const std::uint32_t cls : unknown->second) loose_ += static_cast<std::uint32_t>(change) * window_.called(cls);
  }
  // What a chain could supply or mention counts until its closer has returned.
  void count_chain(std::uint32_t closer, int change) {
    if (timeline_->op(closer).chain == kNone) return;
    for (const std::uint32_t number : timeline_->chain(timeline_->op(closer).chain).ops) count_future(number, change);
  }
  void mark_pending(std::uint32_t number, bool pending) {
    const Timeline::Op& op = timeline_->op(number);
    if (op.slot == kNoSlot) return;
    const CellClass& cell = facts_->classes[op.cls];
    const auto put = [&](Bits<W>& bits) { pending ? bits.set(op.slot) : bits.clear(op.slot); };
    const auto with = [&](State value, const auto& change) {
      if (pending && masks_at_[value] == 0) masks_at_[value] = take_masks();
      Masks& mask = masks_[masks_at_[value]];
      change(mask);
      mask.users += static_cast<std::uint32_t>(pending ? 1 : -1);
      if (mask.users == 0) {
        free_masks_.push_back(masks_at_[value]);
        masks_at_[value] = 0;
      }
    };
    const bool changes = cell.leaves != kNone && cell.leaves != cell.wants;
    if (cell.wants != kNone) {
      with(cell.wants, [&](Masks& mask) { put(changes ? mask.takers : mask.readers); });
    }
    if (cell.refuses != kNone) {
      with(cell.refuses, [&](Masks& mask) {
        put(mask.mentions);
        put(mask.refusers);
      });
      put(refusing_);
    }
    if (cell.leaves != kNone) with(cell.leaves, [&](Masks& mask) { put(mask.supplies); });
    if (op.eager) put(eager_slots_);
    if (op.eager && cell.wants == kNone) put(refusers_);
  }
  std::uint32_t take_masks() {
    if (free_masks_.empty()) {
      masks_.emplace_back();
      return static_cast<std::uint32_t>(masks_.size() - 1);
    }
    const std::uint32_t place = free_masks_.back();
    free_masks_.pop_back();
    return place;
  }

  const CellFacts* facts_;
  const Timeline* timeline_;
  Window window_;
  UsageTable usage_;
  Marks<W> marks_;
  std::vector<CellFacts::Value> left_;  // of each value: what is not yet called (mentions of classes stay)
  std::vector<std::uint32_t> masks_at_;
  std::vector<Masks> masks_;  // 0: of values that no pending operation concerns
  std::vector<std::uint32_t> free_masks_;
  Bits<W> eager_slots_;
  Bits<W> refusers_;         // eager operations that do not want a value: legal except where they refuse
  Bits<W> refusing_;         // all that refuse
  std::uint32_t loose_ = 0;  // unknown operations called that leave a value which somebody will have to miss
  std::vector<std::uint32_t> wanted_;
  std::uint32_t wanted_stamp_ = 0;
  std::vector<std::uint32_t> twin_seen_;
  std::uint32_t stamp_ = 0;
};

}  // namespace holdfast::porcupine
