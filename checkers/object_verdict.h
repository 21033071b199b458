// The verdict on recorded objects: each decided by itself, on all cores, and the answers put into words.
#pragma once

#include "checkers/object_model.h"
#include "harness/checker.h"

namespace holdfast {

// One decision per object, in their order. A limit that is reached costs the objects that were not decided by then.
std::vector<objects::Decision> decide_objects(std::span<const RecordedObject> objects, const objects::Limits& limits);

// A finding for each object that is broken, with the events that prove it; what they cannot have been is invalid, what
// no limit allowed to decide is unknown.
Verdict verdict_of(const formats::RecordedHistory& history, std::span<const RecordedObject> objects,
                   std::span<const objects::Decision> decisions);

}  // namespace holdfast
