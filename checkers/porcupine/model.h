// What the engine needs to know about an object: a sequential specification, and a history of what was asked of it.
//
// A Model has the types State, Input and Output and
//   State init() const;
//   std::optional<State> step(const State&, const Input&, const Output* known) const;   // nothing: not allowed now
//   std::size_t hash(const State&) const;            // and State has ==
// `known` is null for an operation whose outcome nobody saw: step then answers what it does if it takes effect.
//
// The rest is optional. Each hook buys speed or a better report; none changes the verdict.
//   bool read_only(const Input&, const Output*) const;         // never changes the state: linearized as soon as legal
//   std::size_t request_hash(const Input&, const Output*) const;  // with Input == and Output ==: equal operations
//   share
//                                                              // one class; unknown ones become a mere counter
//   bool ordered_sessions() const;         // an unknown operation takes effect before its client's next effective
//                                          // one, or never
//   bool droppable(const Input&) const;    // an unknown outcome of this input can be left out without changing the
//                                          // verdict
//   bool doomed(const State&, Instant now) const;  // with everything that returned before `now` linearized, no
//                                          // continuation from this state exists
//   Cell cell(const Input&, const Output*) const;  // see below
//   std::int64_t cell_init() const;
//   std::vector<std::vector<std::uint32_t>> partition(std::span<const Operation<M>>) const;  // independent objects;
//                                          // only if no client does two things at one instant
//   std::string describe(const Input&, const Output*) const;
//   std::string describe_state(const State&) const;
//   std::string explain(const State&, const Input&, const Output*) const;  // why a step is not allowed, one sentence
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::porcupine {

using Instant = std::int64_t;
inline constexpr Instant kNever = std::numeric_limits<Instant>::max();
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// An object whose whole state is one value (a register, a mutex) may say of each operation which value it needs to
// find, which one it must not find, and which one it leaves. The engine then knows in advance who still waits for a
// value and who can bring it back, and does not walk into states from which somebody starves.
struct Cell {
  std::optional<std::int64_t> wants;
  std::optional<std::int64_t> refuses;
  std::optional<std::int64_t> leaves;
};

template <class M>
concept Model = requires(const M& model, const typename M::State& state, const typename M::Input& input,
                         const typename M::Output* known) {
  { model.init() } -> std::same_as<typename M::State>;
  { model.step(state, input, known) } -> std::same_as<std::optional<typename M::State>>;
  { model.hash(state) } -> std::convertible_to<std::size_t>;
  { state == state } -> std::convertible_to<bool>;
};

// One operation takes effect at one instant of [call, ret]; a comes before b exactly when a.ret < b.call.
template <class M>
struct Operation {
  typename M::Input input;
  std::optional<typename M::Output> output;  // nothing: the outcome is unknown, ret is kNever
  Instant call = 0;
  Instant ret = kNever;
  std::uint32_t client = 0;

  [[nodiscard]] const typename M::Output* known() const { return output ? &*output : nullptr; }
};

// The same as a stream: calls and returns in order of time, paired by id. A return without an output, or none at all,
// leaves the outcome unknown.
template <class M>
struct Event {
  std::uint64_t id = 0;
  std::uint32_t client = 0;
  std::optional<typename M::Input> call;
  std::optional<typename M::Output> ret;
};

template <class M>
concept HasReadOnly = requires(const M& m, const typename M::Input& i, const typename M::Output* o) {
  { m.read_only(i, o) } -> std::convertible_to<bool>;
};
template <class M>
concept HasClasses = requires(const M& m, const typename M::Input& i, const typename M::Output* o) {
  { m.request_hash(i, o) } -> std::convertible_to<std::size_t>;
  { i == i } -> std::convertible_to<bool>;
  { *o == *o } -> std::convertible_to<bool>;
};
template <class M>
concept HasSessions = requires(const M& m) {
  { m.ordered_sessions() } -> std::convertible_to<bool>;
};
template <class M>
concept HasDroppable = requires(const M& m, const typename M::Input& i) {
  { m.droppable(i) } -> std::convertible_to<bool>;
};
template <class M>
concept HasDoomed = requires(const M& m, const typename M::State& s, Instant now) {
  { m.doomed(s, now) } -> std::convertible_to<bool>;
};
template <class M>
concept HasCell = requires(const M& m, const typename M::Input& i, const typename M::Output* o) {
  { m.cell(i, o) } -> std::same_as<Cell>;
  { m.cell_init() } -> std::convertible_to<std::int64_t>;
};
template <class M>
concept HasPartition = requires(const M& m, std::span<const Operation<M>> operations) {
  { m.partition(operations) } -> std::same_as<std::vector<std::vector<std::uint32_t>>>;
};
template <class M>
concept HasExplain =
    requires(const M& m, const typename M::State& s, const typename M::Input& i, const typename M::Output* o) {
      { m.explain(s, i, o) } -> std::convertible_to<std::string>;
    };

}  // namespace holdfast::porcupine
