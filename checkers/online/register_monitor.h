// Watches a register while its history is being recorded and names the first event after which no explanation is left:
// the same event at which checking every prefix of the history anew would first find a violation (in a prefix, what has
// not returned is of unknown outcome). Every value must be written at most once.
//
// Algorithm: the zones and chains of checkers/objects/register_zones.h, kept up to date (compare Golab, Li and Shah,
// PODC 2011). For each chain of compare-and-sets the first return and the last call of its operations are known. Two
// chains B and C contradict each other exactly when B.first < C.last and C.first < B.last. A chain gets its `first`
// once, now, when nothing can have been called later: so only a growing `last` can contradict, and chains stand in the
// order of `first` by themselves; a tree of maxima over them finds the contradiction. Inside a chain, each value
// remembers when something that comes later in the chain first returned: whoever is called after that must not see the
// value.
//
// Forgetting: a chain B is over when another one C with B.first < C.last exists and all that is still under way was
// called after C.first; a value is over when all that is under way was called after something later in its chain
// returned. Whoever sees it afterwards contradicts, whether it is remembered or not. Each event takes O(log w)
// amortised time, for w chains that are not over; memory is O(w + operations under way + writes of unknown outcome that
// nobody saw).
//
// A refused compare-and-set is judged by what is certain when it returns (the register held the value all the time it
// was under way): more than that is left to the decider. Events come in the order of their time, calls before returns
// at the same instant; operations of one process at different instants.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkers/objects/operation.h"
#include "checkers/online/mutex_monitor.h"

namespace holdfast::online {

struct RegisterViolation {
  std::string rule;                       // as of checkers/objects/register_zones.h
  std::string because;                    // one sentence
  std::vector<std::uint64_t> operations;  // who prove it, by the numbers given to RegisterMonitor::call; those whom
                                          // nothing is remembered of are missing
  objects::Instant time = 0;              // of the event that left no explanation
};

class RegisterMonitor {
 public:
  // Forgets when so many values have come since it last did; 1: all the time.
  explicit RegisterMonitor(std::int64_t initial, std::size_t forget_after = 1024);

  // Somebody asks for a read, write or cas: f, argument, call and, for a cas, result (the new value) are looked at. The
  // number is the caller's name for it, never used before. Throws std::invalid_argument for anything else, and for a
  // value that is remembered and written again.
  void call(std::uint64_t number, const objects::Operation& operation);

  // That operation returned; `result` is what a read saw. Answers the violation at the event that makes it certain, and
  // only then.
  std::optional<RegisterViolation> returned(std::uint64_t number, Returned outcome, std::int64_t result,
                                            objects::Instant time);

  [[nodiscard]] bool violated() const { return violated_; }
  // What is remembered: for those who watch its memory.
  [[nodiscard]] std::size_t remembered() const { return values_.size() + chains_.size() + open_.size(); }

 private:
  using Instant = objects::Instant;
  static constexpr std::uint64_t kNobody = UINT64_MAX;
  static constexpr std::uint32_t kNoChain = UINT32_MAX;

  struct Request {
    objects::Call f = objects::Call::read;
    std::int64_t argument = 0;
    std::int64_t result = 0;
    Instant call = 0;
  };
  struct Value {
    std::uint64_t maker = kNobody;
    Instant made = 0;  // when its write or cas was called
    bool by_cas = false;
    std::int64_t before = 0;  // the value that the cas replaced
    bool effective = false;   // it is certain that it was there
    bool replaced = false;    // by a cas that is effective
    std::uint32_t chain = kNoChain;
    Instant later = objects::kNever;  // when something later in the chain first returned
    std::uint64_t later_by = kNobody;
    Instant first = objects::kNever;  // the first return and last call of those that know of the value
    Instant last = 0;
    std::uint64_t last_by = kNobody;
  };
  struct Chain {
    Instant first = objects::kNever;
    Instant last = 0;
    std::uint64_t first_by = kNobody;
    std::uint64_t last_by = kNobody;
  };

  std::optional<RegisterViolation> saw(std::uint64_t number, const Request& request, std::int64_t value, Instant time);
  std::optional<RegisterViolation> wrote(std::uint64_t number, const Request& request, Instant time);
  std::optional<RegisterViolation> refused(std::uint64_t number, const Request& request, Instant time);
  std::optional<RegisterViolation> withdrawn(std::uint64_t number, const Request& request, Instant time);
  // It is certain that the value was there, and so those before it in its chain.
  std::optional<RegisterViolation> take_effect(std::uint64_t number, std::int64_t value, Instant time);
  std::optional<RegisterViolation> join(std::uint64_t number, std::int64_t before, std::int64_t after, Instant time);
  // An operation of the value's chain returned.
  std::optional<RegisterViolation> extend(std::uint64_t number, const Request& request, std::uint32_t chain,
                                          Instant time);
  // Something that comes later in the chain than the value has returned.
  void mark_later(std::int64_t value, std::uint64_t number, Instant time);
  std::optional<RegisterViolation> contradiction(std::uint32_t chain, Instant time);
  void know(Value& value, std::uint64_t number, Instant call, Instant time);
  std::uint32_t new_chain();
  void set_last(std::uint32_t chain, Instant last);
  void rebuild_tree();
  void forget();
  void forget_everything();
  RegisterViolation violation(std::string rule, std::string because, std::vector<std::uint64_t> operations,
                              Instant time);

  std::size_t forget_after_;
  std::size_t since_forgetting_ = 0;
  std::size_t forget_next_;
  bool violated_ = false;
  boost::unordered_flat_map<std::uint64_t, Request> open_;
  std::set<std::pair<Instant, std::uint64_t>> open_calls_;
  boost::unordered_flat_map<std::int64_t, Value> values_;
  std::vector<Chain> chains_;      // in the order of `first`
  std::vector<Instant> greatest_;  // a tree of the greatest `last`
  std::size_t leaves_ = 0;
};

}  // namespace holdfast::online
