// Watches a mutex while its history is being recorded and names the first event after which no explanation is left: the
// same event at which checking every prefix of the history anew would first find a violation (in a prefix, what has not
// returned is of unknown outcome).
//
// Algorithm: the shortest holds of checkers/objects/mutex.h, kept up to date. Of each owner its last certain hold is
// remembered, which a release under way may have ended. Should that release turn out not to have happened, the hold is
// longer than it seemed: so each remembers which hold came next, and when the first hold after its beginning was over
// that nobody saw granted. Nothing else can matter later. Every event takes O(1) amortised; memory is O(owners whose
// last hold is not certainly over).
//
// Not reentrant. For Identity::session, crash and hold (where the first operation of a hold id is its one acquire). A
// refused release ("not held") is evidence; a refused acquire is withdrawn, for what it saw can be judged only with
// later events: that is left to the decider. Events come in the order of their time, calls before returns at the same
// instant.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkers/objects/operation.h"

namespace holdfast::online {

enum class Returned : std::uint8_t {
  ok,
  refused,  // it did not happen, because the object was not in the state for it
  unknown,  // it may still happen
  fail      // it definitely did not and will not happen
};

struct LockViolation {
  std::string rule;                       // as of checkers/objects/mutex.h
  std::string because;                    // the operations are named {0}, {1}, …
  std::vector<std::uint64_t> operations;  // {0}, {1}, … as numbered by MutexMonitor::call
  objects::Instant time = 0;              // of the event that left no explanation
};

class MutexMonitor {
 public:
  // Throws std::invalid_argument when the promise is not one that can be watched.
  explicit MutexMonitor(const objects::Promise& promise);

  // A process asks for an acquire or release: process, hold, f and call of the operation are looked at. Answers its
  // number: 0, 1, ….
  std::uint64_t call(const objects::Operation& operation);

  // The request of that process returned. Answers the violation at the event that makes it certain, and only then.
  std::optional<LockViolation> returned(std::uint32_t process, Returned outcome, objects::Instant time);

  [[nodiscard]] bool violated() const { return violated_; }
  // What is remembered: for those who watch its memory.
  [[nodiscard]] std::size_t remembered() const { return owners_.size() + unmarked_.size() - first_unmarked_; }

 private:
  using Instant = objects::Instant;
  static constexpr std::uint64_t kNobody = UINT64_MAX;

  // What may have happened since the owner's last certain hold.
  struct Since {
    Instant released = objects::kNever;  // when its end was first asked for
    bool acquired_again = false;         // another acquire was asked for after that
    bool acquired = false;               // not known to hold it, but an acquire was asked for
    friend bool operator==(const Since&, const Since&) = default;
  };
  struct Owner {
    bool holds = false;  // its last certain hold may last until now
    Since since;
    std::uint64_t acquire = kNobody;  // of that hold
    Instant answer = 0;               // when it was granted
    std::uint64_t next_acquire = kNobody;
    Instant next_answer = objects::kNever;  // of the hold that was granted next
    std::uint64_t point_release = kNobody;
    Instant point_end = objects::kNever;  // when the first hold that nobody saw granted, after the answer, was over
  };
  struct Request {
    std::uint64_t number = 0;
    std::uint32_t owner = 0;
    objects::Call f = objects::Call::acquire;
    Instant call = 0;
    Since before;
  };
  struct Hold {
    std::uint64_t acquire = kNobody;
    std::uint32_t owner = 0;
    Instant answer = 0;
    bool open = false;  // no end was asked for
  };

  std::optional<LockViolation> acquired(const Request& request, Instant time);
  std::optional<LockViolation> released(const Request& request, Instant time);
  std::optional<LockViolation> refused(const Request& request, Instant time);
  std::optional<LockViolation> failed(const Request& request, Instant time);
  std::optional<LockViolation> released_unseen(const Request& request, Owner& owner, Instant time);
  // The hold of this owner turns out to have lasted until `end`.
  std::optional<LockViolation> lasted(const Request& request, const Owner& owner, Instant end, Instant time);
  void mark(const Request& request, Instant time);
  void set_open(const Owner& owner, bool open);
  void forget_if_idle(std::uint32_t owner);
  LockViolation violation(std::string rule, std::string because, std::vector<std::uint64_t> operations, Instant time);

  objects::Identity identity_;
  std::uint64_t calls_ = 0;
  bool violated_ = false;
  Hold last_;  // the last certain hold of all
  boost::unordered_flat_map<std::uint32_t, Owner> owners_;
  boost::unordered_flat_map<std::uint32_t, Request> requests_;  // by process
  // Holds, in order, that no hold that nobody saw granted has come after yet.
  std::vector<Hold> unmarked_;
  std::size_t first_unmarked_ = 0;
};

}  // namespace holdfast::online
