// Watches an object of any kind that the general engine (checkers/porcupine) has a model of while its history is being
// recorded, and names the first event after which no explanation is left: the same event at which checking every prefix
// of the history anew would first find a violation (in a prefix, what has not returned is of unknown outcome).
//
// Algorithm: layered just-in-time linearization (Lowe 2017). A layer holds every way in which the past may have gone,
// reduced to what the future can see of it, and without those that another one makes superfluous. What is under way may
// have taken effect or not, and its answer may turn out to be any: so the layer before the call of each open operation
// is remembered, and when the operation returns, the events from there on are gone through again with what is known
// now. Each return costs as many layers as there were returns while its operation was under way.
//
// Memory: one layer for each open operation, the events since the oldest of them, and a counter for each class of equal
// operations of unknown outcome. Everything older is freed. Layers can grow exponentially with the operations that are
// open or of unknown outcome; where the limit does not suffice the monitor gives up and says at which event.
//
// The hooks read_only, request_hash, ordered_sessions and explain of the model are used; droppable, doomed, cell and
// partition, which look at whole histories, are not (of several objects each needs a monitor of its own). Events are
// numbered 0, 1, … as they come; a comes before b exactly when a returned before b was called.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checkers/online/layer.h"
#include "checkers/porcupine/model.h"

namespace holdfast::online {

enum class Standing : std::uint8_t { possible, violated, gave_up };

template <porcupine::Model M>
class EngineMonitor {
 public:
  using Input = typename M::Input;
  using Output = typename M::Output;

  explicit EngineMonitor(M model, std::size_t bytes = 0) : model_(std::move(model)), limit_(bytes) {
    now_.layer.push_back({.state = model_.init()});
  }

  // A client asks. Ids are the caller's; each is used once. A client that asks again has been answered, or will
  // never be (unknown). Throws std::invalid_argument when the id is under way.
  void call(std::uint64_t id, std::uint32_t client, Input input) {
    if (ops_.contains(id)) throw std::invalid_argument("an operation that is under way is called again");
    ++events_;
    if (standing_ != Standing::possible) return;
    Op op{.input = std::move(input), .client = client, .place = first_ + entries_.size()};
    if (!read_only(op)) op.cls = class_of(op);
    snapshots_.emplace(op.place, Snapshot{id, now_});
    entries_.push_back({id, false});
    called(now_, ops_.emplace(id, std::move(op)).first->second, id);
    if (limit_ != 0 && bytes() > limit_) end(Standing::gave_up, id, "the memory ran out");
  }
  // It was done, with this answer. Says how things stand after this event.
  Standing returned(std::uint64_t id, Output output) {
    ++events_;
    if (standing_ != Standing::possible) return standing_;
    Op& op = open(id);
    op.output = std::move(output);
    op.fate = Fate::known;
    op.return_place = first_ + entries_.size();
    entries_.push_back({id, true});
    return replay(id);
  }
  // It certainly did not and will not happen.
  Standing failed(std::uint64_t id) {
    ++events_;
    if (standing_ != Standing::possible) return standing_;
    open(id).fate = Fate::none;
    return replay(id);
  }
  // Nobody will ever know.
  void unknown(std::uint64_t id) {
    ++events_;
    if (standing_ != Standing::possible) return;
    Op& op = open(id);
    op.fate = Fate::unknown;
    snapshots_.erase(op.place);
    trim();
  }

  [[nodiscard]] Standing standing() const { return standing_; }
  // Of a violation: the event that left no explanation. Of giving up: the first that is not judged any more.
  [[nodiscard]] std::uint64_t event() const { return ended_at_; }
  // The operation that nothing explains, and why.
  [[nodiscard]] std::uint64_t culprit() const { return culprit_; }
  [[nodiscard]] const std::string& because() const { return because_; }
  // What is remembered, estimated from above.
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = bytes_of(now_) + ops_.size() * 2 * sizeof(std::pair<std::uint64_t, Op>) +
                      classes_.size() * 2 * sizeof(std::pair<std::uint32_t, Class>) + entries_.size() * sizeof(Entry);
    for (const auto& [place, snapshot] : snapshots_) sum += sizeof(snapshot) + bytes_of(snapshot.before);
    return sum;
  }

 private:
  enum class Fate : std::uint8_t { open, known, none, unknown };
  struct Op {
    Input input;
    std::optional<Output> output;
    std::uint32_t client = 0;
    std::uint32_t cls = porcupine::kNone;  // none: it changes nothing
    std::uint64_t place = 0;               // of its call among the entries
    std::uint64_t return_place = UINT64_MAX;
    Fate fate = Fate::open;
    [[nodiscard]] const Output* known() const { return output ? &*output : nullptr; }
  };
  // Operations whose outcome is not known (yet) and that may stand for each other.
  struct Class {
    Input input;
    std::uint32_t client = 0;  // in ordered sessions
    std::size_t hash = 0;
  };
  struct Entry {
    std::uint64_t id = 0;
    bool is_return = false;
  };
  using Conf = LayerConfig<typename M::State>;
  using Layer = LayerSet<M>;
  // A place in the history.
  struct Moment {
    std::vector<Conf> layer;
    std::vector<std::uint64_t> pending;  // known operations that have been called and have not returned, by return
    Counts available;                    // how many of each class have been called
  };
  struct Snapshot {
    std::uint64_t id = 0;
    Moment before;
  };

  [[nodiscard]] bool read_only(const Op& op) const {
    if constexpr (porcupine::HasReadOnly<M>) return model_.read_only(op.input, op.known());
    return false;
  }
  [[nodiscard]] bool sessions() const {
    if constexpr (porcupine::HasSessions<M>) return model_.ordered_sessions();
    return false;
  }
  Op& open(std::uint64_t id) {
    const auto found = ops_.find(id);
    if (found == ops_.end() || found->second.fate != Fate::open) {
      throw std::invalid_argument("an operation that is not under way returned");
    }
    return found->second;
  }

  // In ordered sessions each is a class of its own, numbered by call.
  std::uint32_t class_of(const Op& op) {
    std::size_t hash = 0;
    if constexpr (porcupine::HasClasses<M>) {
      if (!sessions()) {
        hash = model_.request_hash(op.input, nullptr);
        const auto alike = by_hash_.find(hash);
        if (alike != by_hash_.end() && classes_.at(alike->second).input == op.input) return alike->second;
        by_hash_[hash] = next_class_;
      }
    }
    classes_.emplace(next_class_, Class{op.input, op.client, hash});
    return next_class_++;
  }

  void called(Moment& moment, const Op& op, std::uint64_t id) const {
    if (op.fate == Fate::none) return;
    if (op.fate != Fate::known) {
      if (op.cls != porcupine::kNone) add_count(moment.available, op.cls);
      return;
    }
    auto place = moment.pending.end();
    while (place != moment.pending.begin() && ops_.at(*(place - 1)).return_place > op.return_place) --place;
    moment.pending.insert(place, id);
    for (Conf& conf : moment.layer) read(moment, conf);
  }

  // Pending reads that find what they saw take effect at once, unless that ends something in their session.
  void read(const Moment& moment, Conf& conf) const {
    for (const std::uint64_t id : moment.pending) {
      const Op& op = ops_.at(id);
      if (conf.has_done(id) || !read_only(op) || waits_for_session(moment, op)) continue;
      if (model_.step(conf.state, op.input, op.known())) conf.mark(id);
    }
  }
  [[nodiscard]] bool waits_for_session(const Moment& moment, const Op& op) const {
    return sessions() && std::ranges::any_of(moment.available, [&](const auto& each) {
             return classes_.at(each.first).client == op.client;
           });
  }

  // Goes through everything since the call of this operation again.
  Standing replay(std::uint64_t id) {
    const std::uint64_t from = ops_.at(id).place;
    const auto snapshot = snapshots_.find(from);
    Moment moment = std::move(snapshot->second.before);
    snapshots_.erase(snapshot);
    for (std::uint64_t place = from; place < first_ + entries_.size(); ++place) {
      const Entry entry = entries_[place - first_];
      const Op& op = ops_.at(entry.id);
      if (!entry.is_return) {
        if (op.fate == Fate::open) snapshots_.at(place).before = moment;
        called(moment, op, entry.id);
        continue;
      }
      if (!leave(moment, op, entry.id)) return end(Standing::gave_up, entry.id, "the memory ran out");
      if (moment.layer.empty()) return end(Standing::violated, entry.id, because_);
    }
    now_ = std::move(moment);
    trim();
    return standing_;
  }

  // The operation returns: every way must have done it by now. False: the memory ran out.
  bool leave(Moment& moment, const Op& due, std::uint64_t id) {
    Layer next(model_);
    Layer seen(model_);
    std::vector<Conf> frontier;
    std::vector<Conf> deeper;
    for (Conf& conf : moment.layer) {
      conf.has_done(id) ? keep(next, std::move(conf), due, id) : frontier.push_back(conf);
    }
    const std::size_t before = limit_ == 0 ? 0 : bytes();
    while (!frontier.empty()) {
      for (const Conf& conf : frontier) {
        each_move(moment, conf, [&](Conf child) {
          if (child.has_done(id)) return keep(next, std::move(child), due, id);
          if (seen.add(child)) deeper.push_back(std::move(child));
        });
        // Whoever is in `deeper` or the frontier is in `seen` as well.
        if (limit_ != 0 && before + next.bytes() + 3 * seen.bytes() > limit_) return false;
      }
      frontier.swap(deeper);
      deeper.clear();
    }
    if (next.items().empty()) explain(moment, due);
    moment.layer = std::move(next.items());
    std::erase(moment.pending, id);
    if (sessions()) std::erase_if(moment.available, [&](const auto& each) { return of_client(each, due.client); });
    return true;
  }
  [[nodiscard]] bool of_client(const std::pair<std::uint32_t, std::uint32_t>& count, std::uint32_t client) const {
    return classes_.at(count.first).client == client;
  }
  void keep(Layer& next, Conf conf, const Op& due, std::uint64_t id) const {
    std::erase(conf.done, id);
    // What was unknown in its session is over.
    if (sessions()) std::erase_if(conf.used, [&](const auto& each) { return of_client(each, due.client); });
    next.add(std::move(conf));
  }

  template <class Visit>
  void each_move(const Moment& moment, const Conf& conf, const Visit& visit) const {
    for (auto place = moment.pending.begin(); place != moment.pending.end(); ++place) {
      const Op& op = ops_.at(*place);
      if (conf.has_done(*place) || has_twin(conf, moment.pending.begin(), place, op)) continue;
      std::optional<typename M::State> state = model_.step(conf.state, op.input, op.known());
      if (!state) continue;
      Conf child{.state = std::move(*state), .done = conf.done, .used = conf.used};
      child.mark(*place);
      arrive(moment, child, op.client, porcupine::kNone);
      visit(std::move(child));
    }
    for (const auto& [cls, count] : moment.available) {
      if (count_of(conf.used, cls) >= count) continue;
      const Class& asked = classes_.at(cls);
      std::optional<typename M::State> state = model_.step(conf.state, asked.input, nullptr);
      if (!state || *state == conf.state) continue;
      Conf child{.state = std::move(*state), .done = conf.done, .used = conf.used};
      add_count(child.used, cls);
      arrive(moment, child, asked.client, cls);
      visit(std::move(child));
    }
  }
  // Of equal operations the one that returns first goes first.
  template <class Place>
  [[nodiscard]] bool has_twin(const Conf& conf, Place begin, Place end, const Op& op) const {
    if constexpr (porcupine::HasClasses<M>) {
      if (sessions()) return false;
      return std::any_of(begin, end, [&](std::uint64_t id) {
        const Op& other = ops_.at(id);
        return !conf.has_done(id) && other.input == op.input && other.output == op.output;
      });
    }
    return false;
  }
  // After a move of this client: what it asked for before and nobody answered can take effect no more.
  void arrive(const Moment& moment, Conf& conf, std::uint32_t client, std::uint32_t cls) const {
    if (sessions()) {
      for (const auto& each : moment.available) {
        if (each.first < cls && of_client(each, client) && count_of(conf.used, each.first) == 0) {
          add_count(conf.used, each.first);
        }
      }
    }
    read(moment, conf);
  }

  void explain(const Moment& moment, const Op& due) {
    because_ = "no order of what was asked explains its answer";
    if constexpr (porcupine::HasExplain<M>) {
      if (!moment.layer.empty()) because_ = model_.explain(moment.layer.front().state, due.input, due.known());
    }
  }

  // Leaves out what lies before the call of the oldest operation that is open.
  void trim() {
    const std::uint64_t oldest = snapshots_.empty() ? first_ + entries_.size() : snapshots_.begin()->first;
    for (; first_ < oldest; ++first_) {
      const Entry entry = entries_.front();
      entries_.pop_front();
      if (entry.is_return || ops_.at(entry.id).fate != Fate::known) ops_.erase(entry.id);
    }
    if (classes_.size() > 2 * classes_kept_ + 64) sweep();
  }
  // Classes that no operation belongs to any more. By now an operation that is open or unknown is counted in now_;
  // what the layers before it hold is counted there.
  void sweep() {
    boost::unordered_flat_map<std::uint32_t, Class> kept;
    const auto keep_all = [&](const Counts& counts) {
      for (const auto& [cls, count] : counts) kept.insert(*classes_.find(cls));
    };
    keep_all(now_.available);
    for (const auto& [place, snapshot] : snapshots_) keep_all(snapshot.before.available);
    for (const auto& [id, op] : ops_) {
      if (op.fate != Fate::known && op.cls != porcupine::kNone) kept.insert(*classes_.find(op.cls));
    }
    classes_ = std::move(kept);
    classes_kept_ = classes_.size();
    boost::unordered::erase_if(by_hash_, [&](const auto& each) { return !classes_.contains(each.second); });
  }

  Standing end(Standing standing, std::uint64_t culprit, std::string because) {
    standing_ = standing;
    ended_at_ = events_ - 1;
    culprit_ = culprit;
    because_ = std::move(because);
    now_ = {};
    snapshots_.clear();
    entries_ = {};
    ops_ = {};
    classes_ = {};
    by_hash_ = {};
    return standing_;
  }

  static std::size_t bytes_of(const Moment& moment) {
    std::size_t sum = moment.pending.capacity() * 8 + moment.available.capacity() * 8;
    for (const Conf& conf : moment.layer) sum += conf.bytes();
    return sum;
  }

  M model_;
  std::size_t limit_;
  std::uint64_t events_ = 0;
  Moment now_;
  std::map<std::uint64_t, Snapshot> snapshots_;  // by place: what was before the call of each open operation
  std::deque<Entry> entries_;                    // calls, and returns with an answer, since the oldest of those calls
  std::uint64_t first_ = 0;                      // place of the first entry
  boost::unordered_flat_map<std::uint64_t, Op> ops_;
  boost::unordered_flat_map<std::uint32_t, Class> classes_;
  boost::unordered_flat_map<std::size_t, std::uint32_t> by_hash_;
  std::uint32_t next_class_ = 0;
  std::size_t classes_kept_ = 0;
  Standing standing_ = Standing::possible;
  std::uint64_t ended_at_ = 0;
  std::uint64_t culprit_ = 0;
  std::string because_;
};

}  // namespace holdfast::online
