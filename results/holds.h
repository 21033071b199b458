// Believed holds: the spans in which a client believes that it holds a lock, for drawing.
//
// Belief runs from the ok of an acquire to the invocation of its release, the note that it was lost, or the end of the
// client's operating-system process; with none of these, to the end of the history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/history.h"

namespace holdfast {

struct BelievedHold {
  const Event* acquired = nullptr;  // the ok of the acquire: process, node and key are its
  const Event* ended = nullptr;     // null: the history ends first
  Time start{};
  Time end{};
};

std::vector<BelievedHold> believed_holds(const History& history);  // by start

}  // namespace holdfast
