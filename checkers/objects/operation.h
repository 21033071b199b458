// Operation: what one client asked of one object and what it learned, in 48 bytes. Everything in checkers/objects,
// checkers/porcupine/models and checkers/verify reads histories in this form; where it came from does not matter.
//
// Time is any integer scale in which an invocation and a return can be compared: positions in the history, or
// nanoseconds where leases matter. An operation takes effect at one instant of the closed interval [call, ret]; a must
// come before b exactly when a.ret < b.call. Ties therefore count as concurrent, which never raises a false alarm.
//
// Operations that certainly did not take effect are not here at all, unless the refusal itself tells something about
// the object (Outcome::refused).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::objects {

using Instant = std::int64_t;
inline constexpr Instant kNever = std::numeric_limits<Instant>::max();
// The value of an object that nobody has written, the answer of an empty queue, an argument that is not there.
inline constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
// The number given when there is no hold id, no lock set, ….
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// clang-format off
enum class Call : std::uint8_t {
  // register                        argument       result
  read,       //                                    the value seen
  write,      //                     the value
  cas,        //                     expected       the new value, known or not; refused: it did not hold `expected`
  append,     // map of texts        the text
  transact,   // several registers   what is asked  what was answered; numbers of Promise::sets, flat triples of
              //                                    (kRead or kWrite, register, value)
  increment,  // counter             by how much, 1 when kNothing; a read sees the count
  add,        // set                 the element; a read sees the whole set, a number of Promise::sets
  remove,     //                     the element    refused: it was not there
  contains,   //                     the element    1 or 0
  insert,     // queue, stack, heap  the value
  extract,    //                                    the value, or kNothing: empty
  ticket,     // fair lock: this hold is in the queue; the acquire of the same hold is its grant
  acquire,    // semaphore: permits, 1 when kNothing; read-write lock: kRead or kWrite; lease mutex: the least lease of
              // this hold, Promise::lease_least when kNothing (it is gone after the greater of that and
              // Promise::lease_greatest); multi-lock: a number of
              // Promise::sets      the fencing token, or kNothing; refused: tryLock said that somebody holds it
              //                                    (fair lock: the waiter left the queue)
  renew,      //                                    refused: "you do not hold it"
  release,    // semaphore: permits, 1 when kNothing; refused: "you do not hold it"
};
// clang-format on
std::string_view to_string(Call call);

inline constexpr std::int64_t kRead = 1;   // read-write lock: a reader; transact: a read
inline constexpr std::int64_t kWrite = 0;  // read-write lock: the writer; transact: a write

enum class Outcome : std::uint8_t {
  ok,       // took effect between call and ret, with this result
  refused,  // did not take effect, and that tells something: see Call
  unknown   // may take effect at any time from call on, or never; ret is kNever, result is kNothing
};

struct Operation {
  Instant call = 0;
  Instant ret = kNever;
  std::int64_t argument = kNothing;
  std::int64_t result = kNothing;
  std::uint32_t process = 0;
  std::uint32_t hold = kNone;  // locks: which acquire attempt this speaks of (Identity::hold)
  std::uint32_t key = 0;       // which object; deciders are given one object at a time and ignore it
  Call f = Call::read;
  Outcome outcome = Outcome::ok;

  [[nodiscard]] bool ok() const { return outcome == Outcome::ok; }
  [[nodiscard]] bool unknown() const { return outcome == Outcome::unknown; }
  [[nodiscard]] bool refused() const { return outcome == Outcome::refused; }
  friend bool operator==(const Operation&, const Operation&) = default;
};
static_assert(sizeof(Operation) == 48);

using Operations = std::span<const Operation>;

// Whom an unknown outcome can still hurt. The history's recorder decides which one it guarantees; the verdict of a lock
// differs with it.
enum class Identity : std::uint8_t {
  crash,    // an unknown outcome is the last operation of its process (the process is retired)
  hold,     // every acquire attempt has a fresh hold id; unknown operations of it may land at any later time
  session,  // the process goes on, and the service applies its requests in order: before its next effective one or
            // never
  reuse     // the process goes on and its unknown requests may still land arbitrarily late (NP-complete: searched)
};

enum class Kind : std::uint8_t {  // what the object promises
  register_,                      // read, write, cas with unique or repeated values
  counter,                        // increment, read
  set,                            // add, remove, contains
  queue,                          // insert, extract: first in, first out
  stack,                          // insert, extract: last in, first out
  priority_queue,                 // insert, extract: the least value first
  multi_register,                 // transact
  append_map,                     // read, write, append of text: argument and result are numbers of Promise::texts
  mutex,                          // acquire, release by owner; reentrant up to `reentrancy`
  anonymous_mutex,                // anybody may release (Knossos' mutex); `permits` > 1: an anonymous semaphore
  lease_mutex,                    // acquire, renew, release by hold; the service may drop a hold after its lease
  rw_lock,
  semaphore,
  multi_lock,    // acquire takes a whole set of locks at once
  fenced_mutex,  // grants carry tokens
  fair_mutex     // grants follow tickets
};
std::string_view to_string(Kind kind);

enum class FenceRule : std::uint8_t { increasing, by_one };

// What an object of that kind promises exactly, and what the recorder guarantees about the history.
struct Promise {
  Kind kind = Kind::register_;
  std::int64_t initial = kNothing;  // register; counter: 0 when kNothing
  Identity identity = Identity::crash;
  std::uint32_t reentrancy = 1;     // mutex: how often the holder may acquire again
  std::uint32_t permits = 1;        // semaphores
  Instant lease_least = kNever;     // the service may drop a hold from last refresh + this on; kNever: no leases
  Instant lease_greatest = kNever;  // … and must have dropped it after last refresh + this
  FenceRule fence = FenceRule::increasing;
  std::vector<std::vector<std::int64_t>> sets;  // what Call says
  std::vector<std::string> texts;               // append_map
};

constexpr bool is_lock(Kind kind) {
  return kind >= Kind::mutex;
}

// Do the unknown requests of a process keep their place among its others? In a lock session they do: each takes effect
// before the next effective request of its process, or never. (Where processes that met an unknown outcome are retired
// this says nothing new, except about operations that are weakened to unknown, see decision.h.)
constexpr bool has_ordered_sessions(const Promise& promise) {
  return is_lock(promise.kind) && (promise.identity == Identity::session || promise.identity == Identity::crash);
}

}  // namespace holdfast::objects
