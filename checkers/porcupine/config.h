// Config: one way in which the past may have gone, reduced to what the future can see of it: the state, which of the
// pending operations have taken effect, and which unknown ones were used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "checkers/porcupine/bits.h"
#include "checkers/porcupine/timeline.h"
#include "checkers/porcupine/usage.h"

namespace holdfast::porcupine {

template <class State, std::size_t W>
struct Config {
  State state{};
  Bits<W> done;
  std::uint32_t usage = 0;
  std::uint32_t path = 0;  // layered search: how it came to be, see PathStore
};

// What happened in one move, in order: numbers of operations; an unknown operation of a class is kUnknownUse | class.
using Trail = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kUnknownUse = 0x80000000U;

// Bookkeeping that all kinds of state share: marks operations done and knows which may go now.
template <std::size_t W>
class Marks {
 public:
  Marks(const Timeline& timeline, const Window& window, UsageTable& usage)
      : timeline_(&timeline), window_(&window), usage_(&usage) {}

  [[nodiscard]] bool free_to_go(const Bits<W>& done, std::uint32_t number) const {
    const std::uint32_t after = timeline_->op(number).after;
    return after == kNone || over(done, after);
  }
  template <class Conf>
  void mark(Conf& conf, std::uint32_t number, Trail& trail) const {
    const Timeline::Op& op = timeline_->op(number);
    trail.push_back(number);
    if (op.known) conf.done.set(op.slot);
    if (op.chain == kNone) return;
    const std::uint32_t key = timeline_->chain_key(op.chain);
    conf.usage = op.known ? usage_->without(conf.usage, [key](std::uint32_t each) { return each == key; })
                          : usage_->set(conf.usage, key, op.link + 1);
  }
  // The slot that falls free when this operation returns.
  void release(Bits<W>& done, std::uint32_t number) const { done.clear(timeline_->op(number).slot); }

  // The unknown operations of ordered sessions that may still take effect; of equal ones in a session the first.
  template <class Conf, class Visit>
  void each_in_chains(const Conf& conf, const Visit& visit) const {
    for (const std::uint32_t number : window_->chains()) {
      const Timeline::Chain& chain = timeline_->chain(number);
      if (chain.closer != kNone && timeline_->op(chain.closer).call_at < window_->place() &&
          over(conf.done, chain.closer)) {
        continue;
      }
      const std::uint32_t used = usage_->count(conf.usage, timeline_->chain_key(number));
      for (auto place = chain.of_class.begin(); place != chain.of_class.end();) {
        const std::uint32_t cls = place->first;
        const auto next = std::lower_bound(place, chain.of_class.end(), std::pair(cls, used));
        if (next != chain.of_class.end() && next->first == cls && next->second < window_->in_chain(number)) {
          const std::uint32_t candidate = chain.ops[next->second];
          if (free_to_go(conf.done, candidate)) visit(candidate);
        }
        place = std::lower_bound(next, chain.of_class.end(), std::pair(cls + 1, 0U));
      }
    }
  }

 private:
  // It has been called: is it done? A slot given on means that it has returned.
  [[nodiscard]] bool over(const Bits<W>& done, std::uint32_t number) const {
    const std::uint32_t slot = timeline_->op(number).slot;
    return window_->in_slot(slot) != number || done.test(slot);
  }

  const Timeline* timeline_;
  const Window* window_;
  UsageTable* usage_;
};

}  // namespace holdfast::porcupine
