// FIFO queue: insert, extract (which may find nothing).
//
// With unique values a queue's history has an order exactly when no two values are in each other's way and no "empty"
// lies where something was certainly inside (Henzinger, Sezgin, Vafeiadis, CONCUR 2013; Bouajjani and others, ICALP
// 2015). For a value, let the insert's window be [ei, er] and the extract's [di, dr].
//   order: a was put in before b (a.er < b.ei), yet b came out before a could (b.dr < a.di). That is enough: "put in
//          before" and "came out before" are interval orders, and a shortest circle of two such orders has length two.
//   empty: an extract that found nothing lies strictly inside the union of the values' certain stretches (er, di).
//   lost:  a value that nobody extracted must still have gone before D = min{b.dr : a.er < b.ei}. Each needs an unknown
//          extract of its own, called by then. These windows are nested, so counting is enough (Hall); the chosen
//          extracts then behave like known ones that never returned.
// Unknown inserts took effect exactly when somebody extracted their value. Empties together with unknown extracts are
// searched unless the counting already settles it, and so are repeated values, see items.h.
//
// O(n log n) time for sorting, linear otherwise; about 100 bytes for each value.
#pragma once

#include "checkers/objects/decision.h"

namespace holdfast::objects {

// Operations must be sorted by call.
Decision decide_queue(const Promise& promise, Operations operations, const Limits& limits);

}  // namespace holdfast::objects
