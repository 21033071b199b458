// How the words of a recorded history become operations on objects: the table behind `holdfast check FILE --model M`.
//
// A key is an object of its own (linearizability is local). Times are positions in the history, which are unique; a
// model with leases counts nanoseconds instead. An operation that failed did not happen and is left out, unless the
// refusal tells something: a release, renewal or removal that found nothing, a compare-and-set that found another
// value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/objects/decision.h"
#include "harness/event.h"
#include "harness/formats/recorded.h"

namespace holdfast {

struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  objects::Kind kind{};
};
std::span<const ModelEntry> model_table();
const ModelEntry& find_model(const std::string& name);  // UsageError with the nearest name

struct ModelOptions {
  std::optional<std::int64_t> initial;        // of registers and counters
  std::optional<objects::Identity> identity;  // of those who lock; without: what the history shows, see identity_of
  std::optional<Time> lease;                  // for histories that do not say it
  std::uint32_t reentrancy = 1;
  std::uint32_t permits = 1;
  objects::FenceRule fence = objects::FenceRule::increasing;
};

struct RecordedObject {
  std::string key;  // empty: the history has no keys
  objects::Promise promise;
  std::vector<objects::Operation> operations;  // by call
  struct Place {
    std::uint32_t invoke = 0;  // positions in the RecordedHistory; complete == invoke: never answered
    std::uint32_t complete = 0;
  };
  std::vector<Place> places;  // of each operation
};

// Largest first. UsageError, naming the event, for an operation that such an object does not have.
std::vector<RecordedObject> recorded_objects(const formats::RecordedHistory& history, const ModelEntry& model,
                                             const ModelOptions& options);

// Fresh hold ids in every acquire: hold. Every process with an unknown outcome retired: crash. Else reuse: nothing
// excludes that a request whose answer was lost lands late.
objects::Identity identity_of(const formats::RecordedHistory& history);

}  // namespace holdfast
