// The data behind the report's timeline: the whole history in columns, so that 100,000 operations stay a few megabytes.
#pragma once

#include "results/results.h"

namespace holdfast {

// {"end":ns,"rows":[{"process","node"}],"events":{"time":[deltas],"type":[],…},"values":[…],"operations":{"invoke":[],
// "complete":[]},"holds":{…},"faults":[…],"findings":[…]}. Events are named by their place in the columns, -1: none.
Value timeline_data(const RunResults& results, const History& history);

}  // namespace holdfast
