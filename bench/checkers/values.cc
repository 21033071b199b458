// Registers and the queue: nobody ever waits, so that every client is always in the middle of an operation.
#include <deque>
#include <stdexcept>

#include "bench/checkers/generate.h"
#include "harness/rng.h"

namespace holdfast::bench {

namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;

constexpr std::int64_t kDomain = 5;      // register-few writes 0 … 4
constexpr std::size_t kKeysAtATime = 8;  // kv
constexpr std::size_t kOperationsPerKey = 1000;
constexpr std::size_t kUsualLength = 8;  // queue: about so many values are in it; now and then none

// Plants the read of a value that was certainly overwritten: its only writes had returned before another write was
// called, and that one had returned before the read was called.
class StaleRead {
 public:
  StaleRead(const Recipe& recipe, bool few) : position_(recipe.violation.value_or(SIZE_MAX)), few_(few) {
    if (few_) victim_ = kDomain - 1;
  }

  [[nodiscard]] bool planted() const { return planted_; }
  [[nodiscard]] bool is_victim(std::int64_t value) const { return few_ && value == victim_; }
  // Small domain: from the wanted position on nobody writes the victim, until the stale read has returned.
  [[nodiscard]] bool forbids(std::int64_t value, std::size_t made) const {
    return is_victim(value) && made >= position_ && !over_and_done_;
  }
  void wrote(std::int64_t value, int change) {
    if (is_victim(value)) open_ += change;
  }

  void returned(const Operation& operation, std::size_t made) {
    if (planted_ && operation.f == Call::read && operation.result == victim_) over_and_done_ = true;
    if (made < position_ || planted_ || operation.f == Call::read || !operation.ok()) return;
    if (over_ == kNever) {
      if (few_ && open_ > 0) return;
      if (!few_) victim_ = operation.f == Call::cas ? operation.result : operation.argument;
      key_ = operation.key;
      over_ = operation.ret;
    } else if (replaced_ == kNever && operation.key == key_ && operation.call > over_) {
      replaced_ = operation.ret;
    }
  }
  void key_retired(std::uint32_t key) {
    if (key == key_ && !planted_) over_ = replaced_ = kNever;
  }
  // What a read sees: the truth, or the one lie.
  std::int64_t seen(const Operation& read, std::int64_t truth) {
    if (planted_ || replaced_ == kNever || read.key != key_ || read.call < replaced_) return truth;
    planted_ = true;
    return victim_;
  }

 private:
  std::size_t position_;
  bool few_;
  std::int64_t victim_ = kNothing;
  std::uint32_t key_ = 0;
  int open_ = 0;               // writes of the victim under way (small domain)
  Instant over_ = kNever;      // the last write of the victim had returned
  Instant replaced_ = kNever;  // a write called after that had returned
  bool planted_ = false;
  bool over_and_done_ = false;  // the stale read has returned
};

class Registers {
 public:
  Registers(const Recipe& recipe, Rng& rng)
      : family_(recipe.family), rng_(rng), stale_(recipe, recipe.family == Family::register_few) {
    const std::size_t keys = family_ == Family::kv ? kKeysAtATime : 1;
    for (std::size_t i = 0; i < keys; ++i) live_.push_back(new_key());
  }

  [[nodiscard]] bool planted() const { return stale_.planted(); }

  void call(Operation& operation, std::size_t made) {
    std::uint32_t& key = live_[rng_.below(live_.size())];
    operation.key = key;
    if (family_ == Family::kv && ++calls_[key] == kOperationsPerKey) {
      stale_.key_retired(key);
      key = new_key();
    }
    const bool with_cas = family_ == Family::cas_register || family_ == Family::cas_refused;
    const double dice = rng_.unit();
    if (dice < (with_cas ? 0.55 : 0.5)) {
      operation.f = Call::read;
    } else if (with_cas && dice < 0.95) {  // expects what the register holds now, as if it had just been read
      operation.f = Call::cas;
      operation.argument = values_[operation.key];
      operation.result = next_value_++;
    } else {
      operation.f = Call::write;
      operation.argument = value_to_write(made);
      stale_.wrote(operation.argument, 1);
    }
  }

  // Lost writes of the small domain's victim would make its stale read possible.
  [[nodiscard]] bool may_be_lost(const Operation& operation) const {
    return operation.f != Call::write || !stale_.is_victim(operation.argument);
  }

  void perform(Operation& operation, bool lost) {
    std::int64_t& value = values_[operation.key];
    if (operation.f == Call::write) {
      value = operation.argument;
    } else if (operation.f == Call::cas && operation.argument == value) {
      value = operation.result;
    } else if (!lost && operation.f == Call::cas && family_ == Family::cas_refused) {
      operation.outcome = Outcome::refused;
      operation.result = kNothing;
    } else if (!lost) {
      operation.f = Call::read;
      operation.argument = kNothing;
      operation.result = stale_.seen(operation, value);
    }
  }

  void returned(const Operation& operation, std::size_t made) {
    if (operation.f == Call::write) stale_.wrote(operation.argument, -1);
    stale_.returned(operation, made);
  }

 private:
  std::uint32_t new_key() {
    values_.push_back(kNothing);
    calls_.push_back(0);
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  std::int64_t value_to_write(std::size_t made) {
    if (family_ != Family::register_few) return next_value_++;
    const auto value = static_cast<std::int64_t>(rng_.below(kDomain));
    return stale_.forbids(value, made) ? 0 : value;
  }

  Family family_;
  Rng& rng_;
  StaleRead stale_;
  std::int64_t next_value_ = 1;
  std::vector<std::int64_t> values_;  // by key
  std::vector<std::uint32_t> calls_;  // by key
  std::vector<std::uint32_t> live_;
};

// The planted violation: of two values whose inserts came one after the other, the second is extracted first, and the
// first only by a later extract.
class Queue {
 public:
  Queue(const Recipe& recipe, Rng& rng) : rng_(rng), position_(recipe.violation.value_or(SIZE_MAX)) {}

  [[nodiscard]] bool planted() const { return stage_ == Stage::planted; }

  void call(Operation& operation, std::size_t /*made*/) {
    if (rng_.chance(items_.size() < kUsualLength ? 0.54 : 0.46)) {
      operation.f = Call::insert;
      operation.argument = next_value_++;
    } else {
      operation.f = Call::extract;
    }
  }

  [[nodiscard]] static bool may_be_lost(const Operation& /*operation*/) { return true; }

  void perform(Operation& operation, bool lost) {
    if (operation.f == Call::insert) {
      items_.push_back({operation.argument, operation.call, kNever});
    } else if (!lost && stage_ == Stage::passed && operation.call > second_extracted_) {
      operation.result = first_;
      stage_ = Stage::planted;
    } else if (!lost && stage_ == Stage::waiting && second_can_pass()) {
      first_ = items_[0].value;
      second_ = items_[1].value;
      operation.result = second_;
      items_.erase(items_.begin(), items_.begin() + 2);
      stage_ = Stage::passing;
    } else if (!items_.empty()) {
      if (!lost) operation.result = items_.front().value;
      items_.pop_front();
    }
  }

  void returned(const Operation& operation, std::size_t made) {
    if (stage_ == Stage::not_yet && made >= position_) stage_ = Stage::waiting;
    if (operation.f == Call::extract) {
      if (stage_ == Stage::passing && operation.result == second_) {
        stage_ = Stage::passed;
        second_extracted_ = operation.ret;
      }
      return;
    }
    for (Item& item : items_) {
      if (item.value == operation.argument) item.inserted = operation.ret;
    }
  }

 private:
  struct Item {
    std::int64_t value;
    Instant called;
    Instant inserted;  // when the insert returned; kNever: not yet, or unknown
  };
  enum class Stage : std::uint8_t { not_yet, waiting, passing, passed, planted };

  [[nodiscard]] bool second_can_pass() const { return items_.size() > 1 && items_[0].inserted < items_[1].called; }

  Rng& rng_;
  std::size_t position_;
  std::int64_t next_value_ = 1;
  std::deque<Item> items_;
  Stage stage_ = Stage::not_yet;
  std::int64_t first_ = kNothing;
  std::int64_t second_ = kNothing;
  Instant second_extracted_ = kNever;
};

template <typename Object>
class Simulation {
 public:
  Simulation(const Recipe& recipe) : recipe_(recipe), rng_(recipe.seed), object_(recipe, rng_) {}

  void run(Generated& generated) {
    history_ = &generated.operations;
    history_->reserve(recipe_.operations);
    for (std::uint32_t i = 0; i < recipe_.clients; ++i) call_next(clients_.emplace_back());
    while (!clients_.empty()) {
      const std::size_t chosen = rng_.below(clients_.size());
      Client& client = clients_[chosen];
      Operation& operation = (*history_)[client.open];
      bool goes_on = true;
      if (!client.performed) {
        client.performed = true;
        if (!object_.may_be_lost(operation) || !rng_.chance(recipe_.unknown)) {
          object_.perform(operation, false);
          continue;
        }
        if (rng_.chance(0.5)) object_.perform(operation, true);
        operation.outcome = Outcome::unknown;
        ++generated.unknown;
        client.process = kNoProcess;
        goes_on = call_next(client);
      } else {
        operation.ret = now_++;
        object_.returned(operation, history_->size());
        goes_on = call_next(client);
      }
      if (!goes_on) {
        clients_[chosen] = clients_.back();
        clients_.pop_back();
      }
    }
    if (recipe_.violation && !object_.planted()) {
      throw std::runtime_error("the history ended before the violation could be planted");
    }
  }

 private:
  static constexpr std::uint32_t kNoProcess = objects::kNone;
  struct Client {
    std::uint32_t process = kNoProcess;
    std::size_t open = 0;
    bool performed = false;
  };

  bool call_next(Client& client) {
    if (history_->size() >= recipe_.operations) return false;
    if (client.process == kNoProcess) client.process = next_process_++;
    client.open = history_->size();
    client.performed = false;
    Operation& operation = history_->emplace_back();
    operation.call = now_++;
    operation.process = client.process;
    object_.call(operation, history_->size());
    return true;
  }

  const Recipe& recipe_;
  Rng rng_;
  Object object_;
  std::vector<Operation>* history_ = nullptr;
  std::vector<Client> clients_;
  std::uint32_t next_process_ = 0;
  Instant now_ = 0;
};

}  // namespace

Generated generate_values(const Recipe& recipe) {
  if (recipe.operations < recipe.clients) throw std::invalid_argument("fewer operations than clients");
  Generated generated;
  if (recipe.family == Family::queue) {
    generated.promise.kind = objects::Kind::queue;
    Simulation<Queue>(recipe).run(generated);
  } else {
    generated.promise.kind = objects::Kind::register_;
    Simulation<Registers>(recipe).run(generated);
  }
  return generated;
}

}  // namespace holdfast::bench
