// The objects themselves, as plain sequential machines: the definition of what each kind promises. Used to replay a
// witness and, in tests, to try every order. Shares no code with the deciders and their models, so that a mistake in
// one of the two shows.
//
// Each machine is a value: apply() changes it and answers whether the operation, with its outcome, is allowed now.
// After a refusal (false) the machine is in no defined state. An unknown operation is applied as if it took effect
// with whatever result.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::verify {

using objects::Identity;
using objects::Kind;
using objects::Operation;
using objects::Promise;

// The one who holds a lock: the hold id where there is a fresh one for every attempt, the process otherwise.
std::uint32_t owner_of(const Promise& promise, const Operation& operation);

struct Register {
  std::int64_t value = objects::kNothing;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Register&) const = default;
};

struct Counter {
  std::int64_t count = 0;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Counter&) const = default;
};

struct Set {
  std::set<std::int64_t> elements;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Set&) const = default;
};

struct Queue {
  std::deque<std::int64_t> items;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Queue&) const = default;
};

struct Stack {
  std::vector<std::int64_t> items;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Stack&) const = default;
};

struct PriorityQueue {
  std::multiset<std::int64_t> items;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const PriorityQueue&) const = default;
};

struct MultiRegister {
  std::map<std::int64_t, std::int64_t> values;  // those ever written
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const MultiRegister&) const = default;
};

struct Text {
  std::string text;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Text&) const = default;
};

// mutex and fenced mutex. `token` is the last one handed out; a grant nobody saw the token of takes the least possible.
struct Mutex {
  std::uint32_t holder = objects::kNone;
  std::uint32_t count = 0;
  std::int64_t token = 0;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Mutex&) const = default;
};

struct AnonymousMutex {
  std::uint32_t held = 0;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const AnonymousMutex&) const = default;
};

// read-write lock, semaphore, multi-lock: who holds how much of what. A reader holds 1 of as many as there are owners,
// a writer all of them.
struct Shared {
  std::map<std::uint32_t, std::int64_t> held;  // owner -> permits, mode or set
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const Shared&) const = default;
};

struct FairMutex {
  std::deque<std::uint32_t> waiting;
  std::uint32_t holder = objects::kNone;
  bool apply(const Promise& promise, const Operation& operation);
  auto operator<=>(const FairMutex&) const = default;
};

using Machine = std::variant<Register, MultiRegister, Counter, Set, Queue, Stack, PriorityQueue, Text, Mutex,
                             AnonymousMutex, Shared, FairMutex>;

// Throws std::invalid_argument for lease_mutex: a lease is a matter of time, not of order alone.
Machine initial_machine(const Promise& promise);
bool apply(Machine& machine, const Promise& promise, const Operation& operation);

}  // namespace holdfast::verify
