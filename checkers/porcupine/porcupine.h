// Is a history of concurrent operations linearizable? A general checker for any sequential specification.
//
//   struct Register {                                    // the specification; see model.h for the optional hooks
//     using State = int; struct Input { bool write; int value; }; using Output = int;
//     State init() const { return 0; }
//     std::optional<State> step(State s, const Input& in, const Output* seen) const {
//       if (in.write) return in.value;
//       return seen && *seen != s ? std::nullopt : std::optional(s);
//     }
//     std::size_t hash(State s) const { return std::hash<int>{}(s); }
//   };
//   std::vector<porcupine::Operation<Register>> history = …;  // input, output or nothing, call, ret, client
//   porcupine::Result result = porcupine::check(Register{}, history, {.bytes = 1 << 30});
//
// Two searches race: depth-first with memo (Wing & Gong 1993; Lowe 2017) and layered just-in-time linearization (Lowe
// 2017) with iterative widening; independent objects (Horn & Kroening 2015) are checked on all cores, the largest
// first. The problem is NP-complete: time is exponential in the number of operations pending at once in the worst case;
// memory is what the input takes plus the widest layer. Both are limited by the Options, and obeyed inside the loops.
//
// Needs the C++20 standard library and Boost.Unordered 1.81, nothing else; header only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "checkers/porcupine/model.h"
#include "checkers/porcupine/race.h"

namespace holdfast::porcupine {

struct Options {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop;
  std::size_t bytes = 0;     // 0: no limit
  unsigned threads = 0;      // 0: all cores
  bool want_witness = true;  // also the partial orders of an illegal history
  Searches searches = Searches::both;
};

enum class Verdict { ok, illegal, unknown };

struct Statistics {
  std::uint64_t configurations = 0;
  std::size_t peak_bytes = 0;
  std::size_t partitions = 0;
};

struct Result {
  Verdict verdict = Verdict::ok;
  // ok: the operations that took effect, in an order that the model allows and that respects real time.
  std::vector<std::uint32_t> witness;
  // illegal: orders that explain everything before the first return that nothing explains (at most 16).
  std::vector<std::vector<std::uint32_t>> partial;
  std::optional<std::uint32_t> first_illegal_return;  // the operation that returned there
  // Everything that returned before this instant is proven possible; nothing when all of it is.
  std::optional<Instant> proven_until;
  std::string reason;  // illegal: why not; unknown: what ran out
  Statistics statistics;
};

template <Model M>
Result check(const M& model, std::span<const Operation<M>> operations, const Options& options = {});

// The same for a stream of calls and returns; operations are numbered by call.
template <Model M>
Result check_events(const M& model, std::span<const Event<M>> events, const Options& options = {});

// The operations that can matter at all: without unknown reads, and without unknown operations whose effect nobody
// could notice.
template <Model M>
std::vector<std::uint32_t> relevant(const M& model, std::span<const Operation<M>> operations);

}  // namespace holdfast::porcupine

#include "checkers/porcupine/check.h"
