// What queue, stack and priority queue have in common: things are put in and taken out. Where every value is put in at
// most once, each value is one item with a window for its insert and one for its extract.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checkers/objects/obligations.h"

namespace holdfast::objects {

struct Item {
  Instant insert_call = 0;
  Instant insert_ret = 0;         // not after the extract returned
  Instant extract_call = kNever;  // not before the insert was called; kNever: stays inside
  Instant extract_ret = kNever;
  std::uint32_t insert = kNone;
  std::uint32_t extract = kNone;
};

struct Items {
  bool unique = true;                  // no value is inserted twice
  std::vector<Item> items;             // by call of the insert; without unknown inserts that nobody extracted
  std::vector<std::uint32_t> empties;  // extracts that found nothing
  std::vector<std::uint32_t> unknown;  // extracts of which nobody knows what they got
  std::optional<Decision> fault;       // something came out that was not inside; see Quick
};

Items pair_items(const Promise& promise, Operations operations);

// The answer of a decider for unique values. Of a violation `because` is the conclusion only (see conclude()), and the
// core may be larger than needed unless `minimal`.
struct Quick {
  Decision decision;
  bool minimal = false;
};
// Nothing: it cannot tell.
using QuickDecider = std::function<std::optional<Quick>(const Promise&, Operations, const Items&, const Limits&)>;

// Asks `quick` when values are unique. Otherwise, and when it cannot tell, the history is cut where the object is
// certainly empty and nothing is under way; search() decides the pieces that `quick` does not.
Decision decide_items(const Promise& promise, Operations operations, const QuickDecider& quick, const Limits& limits);

// Stretches of time that the open intervals put in cover together.
class Cover {
 public:
  struct Stretch {
    Instant from;
    Instant to;
    std::uint32_t item;
  };
  explicit Cover(std::vector<Stretch> stretches);
  // The first instant from `when` on that is not covered.
  [[nodiscard]] Instant free_from(Instant when) const;
  // A smallest chain of stretches that covers [from, to]; there must be one.
  [[nodiscard]] std::vector<std::uint32_t> chain(Instant from, Instant to) const;

 private:
  std::vector<Stretch> stretches_;       // by `from`
  std::vector<std::uint32_t> farthest_;  // among the first i + 1 the one that ends last
};

// Of the items in `some` a minimal part for which `impossible` is still true; the items given to it are in order.
std::vector<std::uint32_t> fewest_items(const Items& items, const std::vector<std::uint32_t>& some,
                                        const std::function<bool(const Items&)>& impossible);
// What was put in and taken out; where an item stays inside, all extracts called by `when` as well, see
// core_of_empty().
std::vector<std::uint32_t> core_of_items(Operations operations, const Items& items,
                                         const std::vector<std::uint32_t>& some, Instant when);

// The core of "it was empty" (`empty`) although the stretches of `chain` say otherwise: who put in and took out. Where
// an item stays inside, all extracts before are needed, too: weakened, one of them could have taken it.
std::vector<std::uint32_t> core_of_empty(Operations operations, const Items& items, std::uint32_t empty,
                                         const std::vector<std::uint32_t>& chain);

// All operations at their word that took something out and were called by `when`.
void add_extracts(Operations operations, Instant when, std::vector<std::uint32_t>& core);

}  // namespace holdfast::objects
