// Locks without leases. Each is a number of permits: a mutex has one, a writer takes all of them, a reader one.
// Clients that want more than there is wait, with their acquire open; whenever permits come free, waiters chosen at
// random are granted, and hear of it at a random later time. So nearly all clients have an acquire open.
//
// Unknown outcomes must not keep the lock for ever:
//   fresh hold ids  a lost acquire either never happens or is granted, and then its hold is released (by the next
//                   process, as cleaning up after a time-out does); a lost release happens, or the hold is released
//                   again
//   reuse           the same, but the process goes on
//   reentrant       the process is gone for good: lost outermost acquires never happen, lost last releases do
#include <algorithm>
#include <stdexcept>

#include "bench/checkers/generate.h"
#include "harness/rng.h"

namespace holdfast::bench {

namespace {

using objects::Call;
using objects::Identity;
using objects::Instant;
using objects::kNone;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;

constexpr std::uint32_t kReentrancy = 3;

class Locks {
 public:
  explicit Locks(const Recipe& recipe)
      : recipe_(recipe),
        rng_(recipe.seed),
        position_(recipe.violation.value_or(SIZE_MAX)),
        capacity_(recipe.family == Family::rw          ? recipe.clients
                  : recipe.family == Family::semaphore ? std::max(2U, recipe.clients / 2)
                                                       : 1),
        // A lock's unknown outcomes fall on outermost acquires and last releases; this keeps their fraction.
        loss_(recipe.family == Family::reentrant ? recipe.unknown * 2 : recipe.unknown) {
    objects::Promise& promise = generated_.promise;
    promise.identity = Identity::hold;
    switch (recipe.family) {
      case Family::rw:
        promise.kind = objects::Kind::rw_lock;
        break;
      case Family::semaphore:
        promise.kind = objects::Kind::semaphore;
        promise.permits = capacity_;
        break;
      case Family::reentrant:
        promise.reentrancy = kReentrancy;
        promise.identity = Identity::crash;
        [[fallthrough]];
      default:
        promise.kind = objects::Kind::mutex;
        if (recipe.family == Family::reuse) promise.identity = Identity::reuse;
    }
    // The last acquires are followed by their releases, so the last new acquire comes a little earlier.
    const std::size_t rest = recipe.clients * (recipe.family == Family::reentrant ? std::size_t{3} : std::size_t{1});
    last_acquire_ = recipe.operations > 2 * rest ? recipe.operations - rest : recipe.operations / 2;
  }

  Generated run() {
    generated_.operations.reserve(recipe_.operations + std::size_t{8} * recipe_.clients);
    clients_.resize(recipe_.clients);
    for (std::uint32_t i = 0; i < recipe_.clients; ++i) acquire(i);
    while (!ready_.empty()) {
      if (!planted_ && made() >= position_) plant();
      const std::size_t chosen = rng_.below(ready_.size());
      if (step(ready_[chosen])) continue;
      ready_[chosen] = ready_.back();
      ready_.pop_back();
    }
    if (recipe_.violation && !planted_) {
      throw std::runtime_error("the history ended before the violation could be planted");
    }
    return std::move(generated_);
  }

 private:
  enum class Stage : std::uint8_t {
    granted,    // has the lock, does not know it yet
    holding,    // knows it, or has given up waiting for an answer
    entering,   // reentrant: an inner acquire is on its way
    releasing,  // a release is on its way
    released    // the release happened, the client does not know it yet
  };
  struct Client {
    std::uint32_t process = kNone;
    std::uint32_t hold = kNone;
    std::uint32_t weight = 1;
    std::uint32_t depth = 0;  // how often the lock is held
    std::uint32_t inner = 0;  // how many inner acquires are still to come
    std::size_t open = 0;
    bool lost = false;     // the answer to the acquire will not come
    bool certain = false;  // the acquire has returned, no release was called
    Stage stage = Stage::granted;
  };

  [[nodiscard]] std::size_t made() const { return generated_.operations.size(); }
  [[nodiscard]] bool has_holds() const { return generated_.promise.identity == Identity::hold; }

  Operation& call(Client& client, Call f) {
    if (client.process == kNone) client.process = next_process_++;
    client.open = made();
    Operation& operation = generated_.operations.emplace_back();
    operation.f = f;
    operation.call = now_++;
    operation.process = client.process;
    operation.hold = client.hold;
    if (recipe_.family == Family::semaphore) operation.argument = client.weight;
    if (recipe_.family == Family::rw && f == Call::acquire) {
      operation.argument = client.weight == capacity_ ? objects::kWrite : objects::kRead;
    }
    return operation;
  }

  void lose(Client& client) {
    generated_.operations[client.open].outcome = Outcome::unknown;
    ++generated_.unknown;
    if (recipe_.family != Family::reuse) client.process = kNone;
  }

  void acquire(std::uint32_t number) {
    Client& client = clients_[number];
    while (made() < last_acquire_) {
      if (has_holds()) client.hold = next_hold_++;
      client.weight = new_weight();
      client.depth = 0;
      client.inner = 0;
      if (recipe_.family == Family::reentrant) client.inner = static_cast<std::uint32_t>(rng_.below(kReentrancy));
      client.lost = rng_.chance(loss_);
      call(client, Call::acquire);
      if (client.lost && (recipe_.family == Family::reentrant || rng_.chance(0.5))) {  // never happens: try again
        lose(client);
        continue;
      }
      waiting_.push_back(number);
      grant();
      return;
    }
  }

  std::uint32_t new_weight() {
    if (recipe_.family == Family::rw) return rng_.chance(0.2) ? capacity_ : 1;
    if (recipe_.family == Family::semaphore) return rng_.chance(0.25) ? 2 : 1;
    return 1;
  }

  // Waiters that fit, beginning with a random one.
  void grant() {
    if (waiting_.empty() || used_ >= capacity_) return;
    std::size_t at = rng_.below(waiting_.size());
    for (std::size_t left = waiting_.size(); left > 0 && used_ < capacity_; --left) {
      if (at >= waiting_.size()) at = 0;
      if (used_ + clients_[waiting_[at]].weight <= capacity_) {
        give(at);
      } else {
        ++at;
      }
    }
  }

  std::uint32_t give(std::size_t at) {
    const std::uint32_t number = waiting_[at];
    waiting_[at] = waiting_.back();
    waiting_.pop_back();
    Client& client = clients_[number];
    used_ += client.weight;
    client.depth = 1;
    client.stage = Stage::granted;
    if (client.lost) {
      lose(client);
      client.stage = Stage::holding;
    }
    ready_.push_back(number);
    return number;
  }

  // One waiter is granted, and hears of it, while those who certainly hold leave no room for it. Until they do, they
  // release nothing (see step).
  void plant() {
    for (std::size_t at = 0; at < waiting_.size(); ++at) {
      Client& client = clients_[waiting_[at]];
      if (certain_ + client.weight <= capacity_) continue;
      client.lost = false;
      granted_returns(clients_[give(at)]);
      planted_ = true;
      return;
    }
  }

  void granted_returns(Client& client) {
    generated_.operations[client.open].ret = now_++;
    client.stage = Stage::holding;
    client.certain = true;
    certain_ += client.weight;
  }

  void release(Client& client) {
    if (client.certain) certain_ -= client.weight;
    client.certain = false;
    call(client, Call::release);
    client.stage = Stage::releasing;
  }

  // False: the client is no longer ready.
  bool step(std::uint32_t number) {
    Client& client = clients_[number];
    switch (client.stage) {
      case Stage::granted:
        granted_returns(client);
        return true;
      case Stage::holding:
        if (!planted_ && made() >= position_ && client.certain && !waiting_.empty()) return true;
        if (client.inner > 0) {
          --client.inner;
          call(client, Call::acquire);
          client.stage = Stage::entering;
        } else {
          release(client);
        }
        return true;
      case Stage::entering:
        generated_.operations[client.open].ret = now_++;
        ++client.depth;
        client.stage = Stage::holding;
        return true;
      case Stage::releasing:
        return release_arrives(number);
      case Stage::released:
        break;
    }
    generated_.operations[client.open].ret = now_++;
    if (client.depth > 0) {
      client.stage = Stage::holding;
      return true;
    }
    return comes_back(number);
  }

  bool release_arrives(std::uint32_t number) {
    Client& client = clients_[number];
    const bool last = client.depth == 1;
    const bool lost = last && rng_.chance(loss_);
    if (lost && recipe_.family != Family::reentrant && rng_.chance(0.5)) {  // never arrives: the hold stays
      lose(client);
      client.stage = Stage::holding;
      return true;
    }
    if (--client.depth == 0) {
      used_ -= client.weight;
      grant();
    }
    client.stage = Stage::released;
    if (!lost) return true;
    lose(client);
    return comes_back(number);
  }

  // The client is outside and wants in again, which may be granted at once: it is ready by its new entry then.
  bool comes_back(std::uint32_t number) {
    acquire(number);
    return false;
  }

  const Recipe& recipe_;
  Rng rng_;
  std::size_t position_;
  std::uint32_t capacity_;
  double loss_;
  Generated generated_;
  std::size_t last_acquire_ = 0;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> waiting_;
  std::uint32_t used_ = 0;     // permits
  std::uint32_t certain_ = 0;  // … of those who know that they hold
  std::uint32_t next_process_ = 0;
  std::uint32_t next_hold_ = 0;
  Instant now_ = 0;
  bool planted_ = false;
};

}  // namespace

Generated generate_locks(const Recipe& recipe) {
  if (recipe.family == Family::reuse && recipe.violation) {
    throw std::invalid_argument("requests that may still land excuse everything: no violation can be planted for sure");
  }
  return Locks(recipe).run();
}

}  // namespace holdfast::bench
