#include "checkers/object_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "checkers/lock_history.h"
#include "harness/error.h"
#include "harness/nearest.h"

namespace holdfast {

namespace {

using formats::kNoText;
using formats::RecordedEvent;
using formats::RecordedHistory;
using formats::RecordedValue;
using formats::Shape;
using formats::TextId;
using objects::Call;
using objects::Identity;
using objects::Kind;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;

constexpr std::array kTable = {
    ModelEntry{"register", "read and write one value; cas where there is one", Kind::register_},
    ModelEntry{"cas-register", "the same: read, write and compare-and-set", Kind::register_},
    ModelEntry{"multi-register", "transactions that read and write several registers at once", Kind::multi_register},
    ModelEntry{"kv-append", "get, put and append of text, key by key", Kind::append_map},
    ModelEntry{"counter", "increment and read", Kind::counter},
    ModelEntry{"set", "add, remove, contains, and reads of the whole set", Kind::set},
    ModelEntry{"queue", "enqueue and dequeue: first in, first out", Kind::queue},
    ModelEntry{"stack", "push and pop: last in, first out", Kind::stack},
    ModelEntry{"priority-queue", "insert and extract: the least first", Kind::priority_queue},
    ModelEntry{"mutex", "one holder at a time; only the holder may release", Kind::mutex},
    ModelEntry{"anonymous-mutex", "one holder at a time; anybody may release (the mutex of Knossos)",
               Kind::anonymous_mutex},
    ModelEntry{"lease-mutex", "a mutex whose service may drop a hold when its lease is over", Kind::lease_mutex},
    ModelEntry{"rw-lock", "many readers or one writer", Kind::rw_lock},
    ModelEntry{"semaphore", "at most so many permits at a time", Kind::semaphore},
    ModelEntry{"multi-lock", "a set of locks taken at once", Kind::multi_lock},
    ModelEntry{"fenced-mutex", "a mutex whose grants carry increasing tokens", Kind::fenced_mutex},
    ModelEntry{"fair-mutex", "a mutex granted in the order of tickets", Kind::fair_mutex},
};

struct Word {
  std::string_view name;
  Call call;
};

constexpr std::array kWords = {
    Word{"read", Call::read},         Word{"get", Call::read},
    Word{"write", Call::write},       Word{"put", Call::write},
    Word{"cas", Call::cas},           Word{"append", Call::append},
    Word{"txn", Call::transact},      Word{"increment", Call::increment},
    Word{"inc", Call::increment},     Word{"add", Call::add},
    Word{"remove", Call::remove},     Word{"delete", Call::remove},
    Word{"contains", Call::contains}, Word{"insert", Call::insert},
    Word{"enqueue", Call::insert},    Word{"push", Call::insert},
    Word{"extract", Call::extract},   Word{"dequeue", Call::extract},
    Word{"pop", Call::extract},       Word{"ticket", Call::ticket},
    Word{"acquire", Call::acquire},   Word{"lock", Call::acquire},
    Word{"renew", Call::renew},       Word{"release", Call::release},
    Word{"unlock", Call::release},
};

constexpr std::uint32_t bit(Call call) {
  return 1U << static_cast<unsigned>(call);
}

std::uint32_t calls_of(Kind kind) {
  switch (kind) {
    case Kind::register_:
      return bit(Call::read) | bit(Call::write) | bit(Call::cas);
    case Kind::counter:
      return bit(Call::read) | bit(Call::increment) | bit(Call::add);
    case Kind::set:
      return bit(Call::read) | bit(Call::add) | bit(Call::remove) | bit(Call::contains);
    case Kind::queue:
    case Kind::stack:
    case Kind::priority_queue:
      return bit(Call::insert) | bit(Call::extract);
    case Kind::multi_register:
      return bit(Call::transact);
    case Kind::append_map:
      return bit(Call::read) | bit(Call::write) | bit(Call::append);
    case Kind::lease_mutex:
      return bit(Call::acquire) | bit(Call::release) | bit(Call::renew);
    case Kind::fair_mutex:
      return bit(Call::ticket) | bit(Call::acquire) | bit(Call::release);
    default:
      return bit(Call::acquire) | bit(Call::release);
  }
}

// Reads the words of one history as operations of one kind of object.
class Translation {
 public:
  Translation(const RecordedHistory& history, const ModelEntry& model, const ModelOptions& options)
      : history_(history), model_(model), allowed_(calls_of(model.kind)) {
    promise_.kind = model.kind;
    promise_.initial = options.initial.value_or(kNothing);
    promise_.reentrancy = options.reentrancy;
    promise_.permits = options.permits;
    promise_.fence = options.fence;
    if (objects::is_lock(model.kind)) promise_.identity = options.identity.value_or(identity_of(history));
    if (options.lease) promise_.lease_least = certain_lease(*options.lease).count();
    if (model.kind == Kind::lease_mutex && !(history.timed && history.time_ordered)) {
      throw UsageError("model lease-mutex needs the time of every event, in order; this history lacks it");
    }
    if (history.size() > UINT32_MAX) {
      throw UsageError(fmt::format("the history has {} events; at most {} can be judged", history.size(), UINT32_MAX));
    }
  }

  std::vector<RecordedObject> run() {
    std::unordered_map<std::int32_t, std::uint32_t> open;
    for (std::uint32_t at = 0; at < history_.size(); ++at) {
      const RecordedEvent& event = history_[at];
      if (event.note) {
        if (model_.kind == Kind::lease_mutex) take_note(at, event);
        continue;
      }
      if (event.type == EventType::invoke) {
        open[event.process] = at;
      } else if (const auto found = open.find(event.process); found != open.end()) {
        take(found->second, at);
        open.erase(found);
      }
    }
    for (const auto& [process, at] : open) take(at, at);
    for (const auto& [hold, at] : renewing_) renewal(at, at);
    return finish();
  }

 private:
  [[nodiscard]] objects::Instant instant(std::uint32_t at) const {
    return model_.kind == Kind::lease_mutex ? history_[at].time : at;
  }

  std::optional<Call> call_of(const RecordedEvent& event, std::uint32_t at) {
    const auto known = calls_.find(event.f);
    if (known != calls_.end()) return known->second;
    const std::string_view name = history_.text(event.f);
    const auto* const word = std::ranges::find(kWords, name, &Word::name);
    std::optional<Call> call;
    if (word != kWords.end()) call = word->call;
    if (call == Call::add && model_.kind == Kind::counter) call = Call::increment;
    if (call && (allowed_ & bit(*call)) == 0) {
      // Clients of a lock also work on what it guards; that is no matter of the lock.
      const bool guarded = objects::is_lock(model_.kind) && (call == Call::read || call == Call::write);
      if (!guarded) call.reset();
      if (guarded) return calls_.emplace(event.f, std::nullopt).first->second;
    }
    if (!call) {
      throw UsageError(fmt::format("event {}: a {} has no operation \"{}\"; choose another --model",
                                   history_.ordinal(at), model_.name, name));
    }
    return calls_.emplace(event.f, call).first->second;
  }

  // A value as a number: numbers are themselves, everything else gets one far away from them.
  std::int64_t number(RecordedValue value) {
    if (value.nothing()) return kNothing;
    if (const auto integer = history_.integer(value)) return *integer;
    constexpr std::int64_t kTexts = std::int64_t{1} << 61U;
    constexpr std::int64_t kOthers = kTexts + (std::int64_t{1} << 40U);
    if (const TextId text = history_.text_id(value); text != kNoText) return kTexts + text;
    const auto next = static_cast<std::int64_t>(others_.size());
    return kOthers + others_.try_emplace(history_.describe(value), next).first->second;
  }

  // Texts and sets are numbered object by object, so that no object carries those of another.
  std::int64_t text_number(RecordedObject& object, RecordedValue value) {
    const TextId id = history_.text_id(value);
    std::string text = id != kNoText ? std::string(history_.text(id)) : value.nothing() ? "" : history_.describe(value);
    auto& numbers = text_numbers_[static_cast<std::size_t>(&object - objects_.data())];
    const auto [place, fresh] = numbers.try_emplace(std::move(text), object.promise.texts.size());
    if (fresh) object.promise.texts.push_back(place->first);
    return static_cast<std::int64_t>(place->second);
  }

  std::int64_t set_number(RecordedObject& object, RecordedValue value) {
    std::vector<std::int64_t> elements;
    for (std::size_t i = 0; i < history_.length(value); ++i) elements.push_back(number(history_.element(value, i)));
    object.promise.sets.push_back(std::move(elements));
    return static_cast<std::int64_t>(object.promise.sets.size() - 1);
  }

  // [[:read :x 1] [:write :y 2]] as flat triples.
  std::int64_t transaction_number(RecordedObject& object, RecordedValue value, std::uint32_t at) {
    std::vector<std::int64_t> steps;
    for (std::size_t i = 0; i < history_.length(value); ++i) {
      const RecordedValue step = history_.element(value, i);
      const std::string_view f = history_.text(history_.text_id(history_.element(step, 0)));
      const bool read = f == "read" || f == "r";
      if (history_.length(step) != 3 || (!read && f != "write" && f != "w")) {
        throw UsageError(
            fmt::format("event {}: {} is no step of a transaction; write [\"read\" or \"write\", register, value]",
                        history_.ordinal(at), history_.describe(step)));
      }
      steps.insert(steps.end(), {read ? objects::kRead : objects::kWrite, number(history_.element(step, 1)),
                                 number(history_.element(step, 2))});
    }
    object.promise.sets.push_back(std::move(steps));
    return static_cast<std::int64_t>(object.promise.sets.size() - 1);
  }

  void take(std::uint32_t invoke, std::uint32_t complete) {
    const RecordedEvent& asked = history_[invoke];
    const RecordedEvent& answered = history_[complete];
    const std::optional<Call> call = call_of(asked, invoke);
    if (!call) return;
    Operation operation;
    operation.f = *call;
    operation.call = instant(invoke);
    operation.hold = asked.hold;
    operation.outcome = Outcome::unknown;
    if (complete != invoke && answered.type == EventType::ok) operation.outcome = Outcome::ok;
    if (complete != invoke && answered.type == EventType::fail) {
      if (!refusal(*call, answered)) return;
      operation.outcome = Outcome::refused;
    }
    if (!operation.unknown()) operation.ret = instant(complete);
    RecordedObject& object = object_of(asked);
    read_values(object, operation, asked, answered, invoke);
    place(object, asked, operation, {invoke, complete});
  }

  // Does this failure tell something about the object, rather than that nothing happened?
  [[nodiscard]] bool refusal(Call call, const RecordedEvent& answered) const {
    const std::string_view error = history_.text(answered.error);
    switch (call) {
      case Call::release:
      case Call::renew:
        return error == "not-held" && model_.kind != Kind::anonymous_mutex;
      case Call::acquire:
        return error == "left" && model_.kind == Kind::fair_mutex;
      case Call::remove:
        return error == "absent";
      case Call::cas:  // without that word it may have failed for any reason (a refused connection, say)
        return error == "mismatch";
      default:
        return false;
    }
  }

  void read_values(RecordedObject& object, Operation& operation, const RecordedEvent& asked,
                   const RecordedEvent& answered, std::uint32_t invoke) {
    const bool ok = operation.ok();
    switch (operation.f) {
      case Call::read:
        if (!ok) break;
        operation.result = model_.kind == Kind::append_map ? text_number(object, answered.value)
                           : model_.kind == Kind::set      ? set_number(object, answered.value)
                                                           : number(answered.value);
        break;
      case Call::append:
        operation.argument = text_number(object, asked.value);
        break;
      case Call::write:
        operation.argument = model_.kind == Kind::append_map ? text_number(object, asked.value) : number(asked.value);
        break;
      case Call::cas:
        if (history_.length(asked.value) != 2) {
          throw UsageError(fmt::format("event {}: cas of {}; its value must be [expected, new]",
                                       history_.ordinal(invoke), history_.describe(asked.value)));
        }
        operation.argument = number(history_.element(asked.value, 0));
        operation.result = number(history_.element(asked.value, 1));
        break;
      case Call::transact:
        operation.argument = transaction_number(object, asked.value, invoke);
        if (ok) operation.result = transaction_number(object, answered.value, invoke);
        break;
      case Call::contains:
        operation.argument = number(asked.value);
        if (ok) operation.result = history_.boolean(answered.value).value_or(number(answered.value) != 0) ? 1 : 0;
        break;
      case Call::extract:
        if (ok) operation.result = number(answered.value);
        break;
      case Call::acquire:
        read_grant(object, operation, asked, answered);
        break;
      case Call::release:
        if (model_.kind == Kind::semaphore) operation.argument = history_.permits(asked).value_or(1);
        break;
      default:
        operation.argument = number(asked.value);
    }
  }

  void read_grant(RecordedObject& object, Operation& operation, const RecordedEvent& asked,
                  const RecordedEvent& answered) {
    switch (model_.kind) {
      case Kind::rw_lock:
        operation.argument = history_.text(history_.mode(asked)) == "read" ? objects::kRead : objects::kWrite;
        break;
      case Kind::semaphore:
        operation.argument = history_.permits(asked).value_or(1);
        break;
      case Kind::multi_lock:
        operation.argument = set_number(object, asked.value);
        break;
      case Kind::lease_mutex:
        if (const auto lease = history_.lease_ms(asked)) {
          operation.argument = certain_lease(std::chrono::milliseconds(*lease)).count();
        }
        break;
      default:
        break;
    }
    if (operation.ok()) operation.result = history_.token(answered).value_or(kNothing);
  }

  // A renewal that the client library makes by itself shows as two notes. The server may have taken it a little before
  // the controller read the first.
  void take_note(std::uint32_t at, const RecordedEvent& event) {
    if (event.hold == formats::kNoHold) return;
    const std::string_view f = history_.text(event.f);
    if (f == "renewing") {
      if (const auto earlier = renewing_.find(event.hold); earlier != renewing_.end()) {
        renewal(earlier->second, earlier->second);
      }
      renewing_[event.hold] = at;
    } else if (f == "renewed") {
      const auto asked = renewing_.find(event.hold);
      renewal(asked == renewing_.end() ? at : asked->second, at);
      renewing_.erase(event.hold);
    }
  }

  void renewal(std::uint32_t asked, std::uint32_t answered) {
    const bool known = history_.text(history_[answered].f) == "renewed";
    Operation operation;
    operation.f = Call::renew;
    operation.call = std::max<objects::Instant>(0, instant(asked) - kNoteDelay.count());
    operation.ret = known ? instant(answered) : objects::kNever;
    operation.outcome = known ? Outcome::ok : Outcome::unknown;
    operation.hold = history_[asked].hold;
    place(object_of(history_[asked]), history_[asked], operation, {asked, answered});
  }

  RecordedObject& object_of(const RecordedEvent& asked) {
    const auto [known, fresh] = object_of_key_.try_emplace(asked.key, objects_.size());
    if (fresh) {
      objects_.push_back(
          {.key = std::string(history_.text(asked.key)), .promise = promise_, .operations = {}, .places = {}});
      text_numbers_.emplace_back();
    }
    return objects_[known->second];
  }

  void place(RecordedObject& object, const RecordedEvent& asked, Operation operation, RecordedObject::Place at) {
    operation.key = static_cast<std::uint32_t>(&object - objects_.data());
    operation.process = process_numbers_.try_emplace(asked.process, process_numbers_.size()).first->second;
    object.operations.push_back(operation);
    object.places.push_back(at);
  }

  std::vector<RecordedObject> finish() {
    for (RecordedObject& object : objects_) sort_by_call(object);
    std::ranges::stable_sort(objects_, std::ranges::greater{},
                             [](const RecordedObject& object) { return object.operations.size(); });
    return std::move(objects_);
  }

  static void sort_by_call(RecordedObject& object) {
    if (std::ranges::is_sorted(object.operations, {}, &Operation::call)) return;
    std::vector<std::uint32_t> order(object.operations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return object.operations[i].call; });
    std::vector<Operation> operations;
    std::vector<RecordedObject::Place> places;
    operations.reserve(order.size());
    places.reserve(order.size());
    for (const std::uint32_t i : order) {
      operations.push_back(object.operations[i]);
      places.push_back(object.places[i]);
    }
    object.operations = std::move(operations);
    object.places = std::move(places);
  }

  const RecordedHistory& history_;
  const ModelEntry& model_;
  std::uint32_t allowed_;
  objects::Promise promise_;
  std::unordered_map<TextId, std::optional<Call>> calls_;
  std::unordered_map<std::string, std::int64_t> others_;
  std::vector<std::unordered_map<std::string, std::size_t>> text_numbers_;  // of each object
  std::unordered_map<std::uint32_t, std::uint32_t> renewing_;               // hold -> position of its note
  std::unordered_map<TextId, std::size_t> object_of_key_;
  std::unordered_map<std::int32_t, std::uint32_t> process_numbers_;
  std::vector<RecordedObject> objects_;
};

}  // namespace

std::span<const ModelEntry> model_table() {
  return kTable;
}

const ModelEntry& find_model(const std::string& name) {
  const auto* const found = std::ranges::find(kTable, name, &ModelEntry::name);
  if (found != kTable.end()) return *found;
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : kTable) names.push_back(entry.name);
  throw UsageError(fmt::format("unknown model \"{}\"; {}", name, did_you_mean(name, names)));
}

objects::Identity identity_of(const RecordedHistory& history) {
  bool every_acquire_named = true;
  bool any_acquire = false;
  bool retired = true;
  std::unordered_map<std::int32_t, bool> unknown;  // by process: its last operation has an unknown outcome
  for (std::size_t at = 0; at < history.size(); ++at) {
    const RecordedEvent& event = history[at];
    if (event.note) continue;
    if (event.type == EventType::invoke) {
      const std::string_view f = history.text(event.f);
      if (f == "acquire" || f == "lock") {
        any_acquire = true;
        every_acquire_named &= event.hold != formats::kNoHold;
      }
      retired &= !unknown[event.process];
    } else {
      unknown[event.process] = event.type == EventType::info;
    }
  }
  if (any_acquire && every_acquire_named) return Identity::hold;
  return retired ? Identity::crash : Identity::reuse;
}

std::vector<RecordedObject> recorded_objects(const RecordedHistory& history, const ModelEntry& model,
                                             const ModelOptions& options) {
  return Translation(history, model, options).run();
}

}  // namespace holdfast
