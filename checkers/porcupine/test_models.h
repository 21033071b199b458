// For the tests of this folder: small objects, every order tried, random histories, and a check of witnesses. Stands on
// the Model concept alone.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkers/porcupine/porcupine.h"

namespace holdfast::porcupine::testing {

enum class Ask { read, write, cas };
struct Input {
  Ask ask = Ask::read;
  int value = 0;
  int expected = 0;
  friend bool operator==(const Input&, const Input&) = default;
};

// A register with nothing but what the concept asks for. The output is the value seen; a cas answers 1 or 0.
struct PlainRegister {
  using State = int;
  using Input = testing::Input;
  using Output = int;
  [[nodiscard]] static State init() { return 0; }
  [[nodiscard]] static std::optional<State> step(State state, const Input& input, const int* seen) {
    if (input.ask == Ask::write) return input.value;
    if (input.ask == Ask::read) return seen == nullptr || *seen == state ? std::optional(state) : std::nullopt;
    if (seen != nullptr && *seen == 0) return state == input.expected ? std::nullopt : std::optional(state);
    return state == input.expected ? std::optional(input.value) : std::nullopt;
  }
  [[nodiscard]] static std::size_t hash(State state) { return static_cast<std::size_t>(state); }
};

// The same with classes, reads, and sessions; its state is too large to stand in the configurations.
struct SharedRegister {
  using State = std::vector<int>;
  using Input = testing::Input;
  using Output = int;
  bool sessions = false;
  [[nodiscard]] static State init() { return {0}; }
  [[nodiscard]] static std::optional<State> step(const State& state, const Input& input, const int* seen) {
    const std::optional<int> next = PlainRegister::step(state.front(), input, seen);
    return next ? std::optional(State{*next}) : std::nullopt;
  }
  [[nodiscard]] static std::size_t hash(const State& state) { return static_cast<std::size_t>(state.front()); }
  [[nodiscard]] static bool read_only(const Input& input, const int* seen) {
    return input.ask == Ask::read || (input.ask == Ask::cas && seen != nullptr && *seen == 0);
  }
  [[nodiscard]] static std::size_t request_hash(const Input& input, const int* seen) {
    return static_cast<std::size_t>(input.value * 7 + input.expected + (seen == nullptr ? 100 : *seen * 31));
  }
  [[nodiscard]] bool ordered_sessions() const { return sessions; }
  [[nodiscard]] static std::string explain(const State& state, const Input& /*input*/, const int* /*seen*/) {
    return "the register holds " + std::to_string(state.front());
  }
};

// The same as one value.
struct CellRegister : PlainRegister {
  bool sessions = false;
  [[nodiscard]] static bool read_only(const Input& input, const int* seen) {
    return SharedRegister::read_only(input, seen);
  }
  [[nodiscard]] bool ordered_sessions() const { return sessions; }
  [[nodiscard]] static std::int64_t cell_init() { return 0; }
  [[nodiscard]] static Cell cell(const Input& input, const int* seen) {
    if (input.ask == Ask::write) return {.leaves = input.value};
    if (input.ask == Ask::read) return seen == nullptr ? Cell{} : Cell{.wants = *seen};
    if (seen != nullptr && *seen == 0) return {.refuses = input.expected};
    return {.wants = input.expected, .leaves = input.value};
  }
};

template <class M>
using History = std::vector<Operation<M>>;

template <class To, class From>
History<To> converted(const History<From>& history) {
  History<To> result;
  for (const Operation<From>& each : history) {
    result.push_back({each.input, each.output, each.call, each.ret, each.client});
  }
  return result;
}

// Every order, for at most 20 operations sorted by call.
template <class M>
class EveryOrder {
 public:
  EveryOrder(const M& model, const History<M>& history, bool sessions)
      : model_(&model), history_(&history), sessions_(sessions) {}

  bool possible() { return from(0, model_->init()); }

 private:
  bool from(std::uint32_t done, const typename M::State& state) {
    Instant deadline = kNever;
    bool open = false;
    for (std::size_t i = 0; i < history_->size(); ++i) {
      if ((done >> i & 1U) != 0 || !(*history_)[i].output) continue;
      deadline = std::min(deadline, (*history_)[i].ret);
      open = true;
    }
    if (!open) return true;
    if (!seen_.emplace(done, state).second) return false;
    for (std::size_t i = 0; i < history_->size(); ++i) {
      const Operation<M>& each = (*history_)[i];
      if ((done >> i & 1U) != 0 || each.call > deadline || waits(done, i)) continue;
      const auto next = model_->step(state, each.input, each.known());
      if (next && from(behind(done, i), *next)) return true;
    }
    return false;
  }
  [[nodiscard]] bool waits(std::uint32_t done, std::size_t number) const {
    const Operation<M>& mine = (*history_)[number];
    if (!mine.output && !sessions_) return false;
    for (std::size_t i = 0; i < number; ++i) {
      const Operation<M>& other = (*history_)[i];
      if ((done >> i & 1U) == 0 && other.client == mine.client && other.output) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint32_t behind(std::uint32_t done, std::size_t number) const {
    done |= 1U << number;
    for (std::size_t i = 0; sessions_ && i < number; ++i) {
      if ((*history_)[i].client == (*history_)[number].client) done |= 1U << i;
    }
    return done;
  }

  const M* model_;
  const History<M>* history_;
  bool sessions_;
  std::set<std::pair<std::uint32_t, typename M::State>> seen_;
};

// What is wrong with a witness, or nothing.
template <class M>
std::string fault(const M& model, const History<M>& history, const std::vector<std::uint32_t>& order, bool sessions) {
  typename M::State state = model.init();
  Instant latest_call = std::numeric_limits<Instant>::min();
  std::vector<bool> seen(history.size());
  std::map<std::uint32_t, std::uint32_t> last;
  for (const std::uint32_t number : order) {
    const Operation<M>& each = history[number];
    if (seen[number]) return "an operation twice";
    seen[number] = true;
    if (each.ret < latest_call) return "real time";
    latest_call = std::max(latest_call, each.call);
    if (each.output || sessions) {
      const auto [place, first] = last.try_emplace(each.client, number);
      if (!first && place->second > number) return "program order";
      place->second = number;
    }
    const auto next = model.step(state, each.input, each.known());
    if (!next) return "a step that is not allowed";
    state = *next;
  }
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (history[i].output && !seen[i]) return "an operation missing";
  }
  return "";
}

// Random calls and answers, sorted by call; small, so that a good part is possible.
inline History<PlainRegister> random_history(std::mt19937& random, std::size_t most, bool clients_go_on) {
  const auto below = [&random](unsigned bound) { return static_cast<int>(random() % bound); };
  const auto clients = static_cast<std::uint32_t>(1 + below(4));
  const auto values = static_cast<unsigned>(2 + below(2));
  const bool ties = below(3) == 0;
  std::vector<Instant> next(clients);
  std::vector<bool> gone(clients);
  History<PlainRegister> history;
  for (std::size_t i = 0; i < most; ++i) {
    const auto client = static_cast<std::uint32_t>(below(clients));
    if (gone[client]) continue;
    Operation<PlainRegister> each;
    each.client = client;
    each.input = {static_cast<Ask>(below(3)), below(values), below(values)};
    each.call = next[client] + below(4);
    each.ret = each.call + below(6);
    each.output = each.input.ask == Ask::read ? below(values) : each.input.ask == Ask::cas ? below(2) : 0;
    next[client] = each.ret + (ties ? below(2) : 1);
    if (below(4) == 0) {
      each.output.reset();
      each.ret = kNever;
      next[client] = each.call + 1;
      gone[client] = !clients_go_on;
    }
    history.push_back(each);
  }
  std::ranges::stable_sort(history, {}, &Operation<PlainRegister>::call);
  return history;
}

}  // namespace holdfast::porcupine::testing
