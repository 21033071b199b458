// The objects as models of the general search (checkers/porcupine). Promises and semantics stand in operation.h.
// Written independently of checkers/verify/sequential, which re-checks what the search finds.
//
// What an object is made of decides the model:
//   CellModel        the state is one value: register, mutex that is not reentrant, anonymous mutex, a set's element
//   NumberModel      a count: counter, anonymous semaphore
//   OwnerModel       holder, count and token: reentrant and fenced mutex
//   TextModel        a text that grows: append_map
//   CollectionModel  a list of numbers: set with whole reads, queue, stack, priority queue, read-write lock, semaphore,
//                    multi-lock, fair mutex, several registers
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/objects/operation.h"
#include "checkers/porcupine/model.h"

namespace holdfast::objects {

struct Ask {
  Call f = Call::read;
  std::uint32_t owner = 0;  // process or hold, as the identity has it
  std::int64_t argument = kNothing;
  std::int64_t result = kNothing;  // of a cas also when the outcome is unknown: it is part of the question
  friend bool operator==(const Ask&, const Ask&) = default;
};
enum class Told : std::uint8_t { ok, refused };

std::uint32_t owner_of(const Promise& promise, const Operation& operation);
std::size_t hash_of(const Ask& ask, const Told* known);
std::string describe(const Ask& ask, const Told* known);

// What all models share: the promise, and how questions look.
struct ObjectModel {
  using Input = Ask;
  using Output = Told;
  const Promise* promise = nullptr;

  [[nodiscard]] bool ordered_sessions() const { return has_ordered_sessions(*promise); }
  [[nodiscard]] static std::size_t request_hash(const Ask& ask, const Told* known) { return hash_of(ask, known); }
  [[nodiscard]] static std::string describe(const Ask& ask, const Told* known) { return objects::describe(ask, known); }
};

struct CellModel : ObjectModel {
  using State = std::int64_t;
  [[nodiscard]] State init() const { return cell_init(); }
  [[nodiscard]] std::optional<State> step(State state, const Ask& ask, const Told* known) const;
  [[nodiscard]] static std::size_t hash(State state) { return static_cast<std::size_t>(state); }
  [[nodiscard]] bool read_only(const Ask& ask, const Told* known) const;
  [[nodiscard]] porcupine::Cell cell(const Ask& ask, const Told* known) const;
  [[nodiscard]] std::int64_t cell_init() const;
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> partition(
      std::span<const porcupine::Operation<CellModel>> operations) const;
  [[nodiscard]] std::string explain(State state, const Ask& ask, const Told* known) const;
};

struct NumberModel : ObjectModel {
  using State = std::int64_t;
  [[nodiscard]] State init() const;
  [[nodiscard]] std::optional<State> step(State state, const Ask& ask, const Told* known) const;
  [[nodiscard]] static std::size_t hash(State state) { return static_cast<std::size_t>(state); }
  [[nodiscard]] static bool read_only(const Ask& ask, const Told* known);
  [[nodiscard]] std::string explain(State state, const Ask& ask, const Told* known) const;
};

struct OwnerModel : ObjectModel {
  struct State {
    std::uint32_t holder = kNone;
    std::uint32_t count = 0;
    std::int64_t token = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] static State init() { return {}; }
  [[nodiscard]] std::optional<State> step(const State& state, const Ask& ask, const Told* known) const;
  [[nodiscard]] static std::size_t hash(const State& state);
  [[nodiscard]] static bool read_only(const Ask& ask, const Told* known);
  [[nodiscard]] std::string explain(const State& state, const Ask& ask, const Told* known) const;
};

// Every text that anybody read, in order. A state is "the first so many characters of that one", the first that has
// them; a text that no read text begins with can never be read until somebody writes, and all such are one state.
struct TextModel : ObjectModel {
  struct State {
    std::uint32_t text = kNone;
    std::uint32_t length = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  TextModel(const Promise& promise, Operations operations);
  [[nodiscard]] State init() const;
  [[nodiscard]] std::optional<State> step(const State& state, const Ask& ask, const Told* known) const;
  [[nodiscard]] static std::size_t hash(const State& state);
  [[nodiscard]] static bool read_only(const Ask& ask, const Told* known);
  // When nobody can write any more, what the next reader will see must begin with what is there.
  [[nodiscard]] bool doomed(const State& state, porcupine::Instant now) const;
  [[nodiscard]] std::string explain(const State& state, const Ask& ask, const Told* known) const;

 private:
  [[nodiscard]] State extended(State state, const std::string& more) const;
  [[nodiscard]] const std::string& text(std::int64_t number) const;

  std::vector<std::string> read_;                             // sorted, distinct
  std::vector<std::pair<Instant, std::uint32_t>> calls_;      // of known reads: call, number in read_
  Instant last_write_ = std::numeric_limits<Instant>::min();  // when the last write that can still land returns
};

struct CollectionModel : ObjectModel {
  using State = std::vector<std::int64_t>;
  CollectionModel(const Promise& promise, Operations operations);
  [[nodiscard]] State init() const;
  [[nodiscard]] std::optional<State> step(const State& state, const Ask& ask, const Told* known) const;
  [[nodiscard]] static std::size_t hash(const State& state);
  [[nodiscard]] bool read_only(const Ask& ask, const Told* known) const;
  [[nodiscard]] bool droppable(const Ask& ask) const;
  [[nodiscard]] std::string explain(const State& state, const Ask& ask, const Told* known) const;

 private:
  std::vector<std::vector<std::int64_t>> seen_sets_;  // Promise::sets of a set, sorted, without repetitions
  std::vector<std::int64_t> mentioned_;               // elements that somebody could notice, sorted
  // Of locks: owners that certainly released something, and those that certainly did anything at all; sorted.
  std::vector<std::uint32_t> released_;
  std::vector<std::uint32_t> acted_;
  bool anything_is_noticed_ = false;
};

}  // namespace holdfast::objects
