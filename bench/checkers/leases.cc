// A mutex with leases. The clients poll: only an attempt that was granted is in the history, as an acquire that began
// just before, so that acquiring takes far less than a lease. A hold that nobody releases (the acquire's answer was
// lost, or the release never arrived) ends when the service drops it, somewhere between the least and the greatest
// lease. Some holders renew for longer than a lease, and some sleep for too long: their release is refused.
#include <algorithm>
#include <stdexcept>

#include "bench/checkers/generate.h"
#include "harness/rng.h"

namespace holdfast::bench {

namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNone;
using objects::Operation;
using objects::Outcome;

constexpr Instant kLeast = 10'000;  // one event takes one unit of time
constexpr Instant kGreatest = 12'000;
constexpr std::size_t kPollersAtATime = 4;
constexpr double kSleeps = 0.002;  // how often a holder sleeps for too long
constexpr double kLongHold = 0.02;
constexpr double kRenews = 0.2;

class Leases {
 public:
  explicit Leases(const Recipe& recipe)
      : recipe_(recipe), rng_(recipe.seed), position_(recipe.violation.value_or(SIZE_MAX)) {
    generated_.promise.kind = objects::Kind::lease_mutex;
    generated_.promise.identity = objects::Identity::hold;
    generated_.promise.lease_least = kLeast;
    generated_.promise.lease_greatest = kGreatest;
  }

  Generated run() {
    generated_.operations.reserve(recipe_.operations + std::size_t{8} * recipe_.clients);
    clients_.resize(recipe_.clients);
    for (std::uint32_t i = 0; i < recipe_.clients; ++i) outside_.push_back(i);
    while (true) {
      wake_sleepers();
      if (expires_ <= now_) expires_ = kNever;
      poll();
      if (ready_.empty()) {
        const Instant next = std::min(expires_, next_to_wake());
        if (next == kNever) break;
        now_ = std::max(now_, next);
        continue;
      }
      const std::size_t chosen = rng_.below(ready_.size());
      if (step(ready_[chosen])) continue;
      ready_[chosen] = ready_.back();
      ready_.pop_back();
    }
    if (recipe_.violation && !planted_) {
      throw std::runtime_error("the history ended before the violation could be planted");
    }
    std::ranges::sort(generated_.operations, {}, &Operation::call);
    return std::move(generated_);
  }

 private:
  enum class Stage : std::uint8_t {
    polling,   // an attempt is on its way
    granted,   // has the lock, does not know it yet
    holding,   // knows it
    asking,    // a renew or release is on its way
    answered,  // it arrived, the client does not know it yet
    late       // the release of one who slept for too long is on its way
  };
  struct Client {
    Operation asked;  // recorded when it arrives (polling) or is called (the others)
    std::uint32_t process = kNone;
    std::uint32_t hold = kNone;
    std::size_t open = 0;
    Instant refreshed = 0;
    Instant wakes = kNever;
    std::uint32_t renewals = 0;  // still to come
    bool long_hold = false;
    Stage stage = Stage::polling;
  };

  [[nodiscard]] std::size_t made() const { return generated_.operations.size(); }
  [[nodiscard]] bool is_free() const { return holders_ == 0 && expires_ == kNever; }

  Operation request(Client& client, Call f) {
    if (client.process == kNone) client.process = next_process_++;
    Operation operation;
    operation.f = f;
    operation.call = now_++;
    operation.process = client.process;
    operation.hold = client.hold;
    return operation;
  }

  void record(Client& client, const Operation& operation) {
    client.open = made();
    generated_.operations.push_back(operation);
  }

  void lose(Client& client) {
    generated_.operations[client.open].outcome = Outcome::unknown;
    ++generated_.unknown;
    client.process = kNone;
  }

  // The hold is nobody's business any more: the service drops it at its time.
  void abandon(const Client& client) {
    --holders_;
    expires_ = client.refreshed + kLeast + static_cast<Instant>(rng_.below(kGreatest - kLeast));
  }

  void poll() {
    if (!is_free()) return;
    while (polling_ < kPollersAtATime && !outside_.empty() && made() + polling_ < recipe_.operations) {
      const std::size_t at = rng_.below(outside_.size());
      const std::uint32_t number = outside_[at];
      outside_[at] = outside_.back();
      outside_.pop_back();
      attempt(clients_[number]);
      ready_.push_back(number);
      ++polling_;
    }
  }

  void attempt(Client& client) {
    client.hold = next_hold_++;
    client.asked = request(client, Call::acquire);
    client.stage = Stage::polling;
  }

  void granted(Client& client) {
    record(client, client.asked);
    ++holders_;
    client.refreshed = now_++;
    client.renewals = rng_.chance(kRenews) ? 1 : 0;
    client.long_hold = rng_.chance(kLongHold);
    if (client.long_hold) client.renewals = 3;
    client.stage = Stage::granted;
  }

  bool goes_outside(std::uint32_t number) {
    outside_.push_back(number);
    return false;
  }

  // False: the client is no longer ready.
  bool step(std::uint32_t number) {
    Client& client = clients_[number];
    switch (client.stage) {
      case Stage::polling:
        --polling_;
        return attempt_arrives(number);
      case Stage::granted:
        generated_.operations[client.open].ret = now_++;
        client.stage = Stage::holding;
        if (!planted_ && made() >= position_) plant();
        return true;
      case Stage::holding:
        return next_request(number);
      case Stage::asking:
        return request_arrives(number);
      case Stage::answered: {
        Operation& operation = generated_.operations[client.open];
        operation.ret = now_++;
        if (operation.f == Call::release) return goes_outside(number);
        client.stage = Stage::holding;
        return true;
      }
      case Stage::late:
        break;
    }
    generated_.operations[client.open].outcome = Outcome::refused;
    generated_.operations[client.open].ret = now_++;
    return goes_outside(number);
  }

  bool attempt_arrives(std::uint32_t number) {
    Client& client = clients_[number];
    if (!is_free()) return goes_outside(number);  // certainly failed: not part of the history
    if (!rng_.chance(recipe_.unknown)) {
      granted(client);
      return true;
    }
    if (rng_.chance(0.5)) {
      granted(client);
      abandon(client);
    } else {
      record(client, client.asked);
    }
    lose(client);
    return goes_outside(number);
  }

  bool next_request(std::uint32_t number) {
    Client& client = clients_[number];
    if (holders_ == 1 && rng_.chance(kSleeps)) {
      abandon(client);
      client.wakes = client.refreshed + kGreatest + 1 + static_cast<Instant>(rng_.below(kLeast));
      sleeping_.push_back(number);
      return false;
    }
    // Time passes only when nobody has an answer open: otherwise that one would seem to wait for as long as a lease.
    if (client.long_hold && ready_.size() == 1) now_ = std::max(now_, client.refreshed + kLeast / 2);
    const Call f = client.renewals > 0 ? Call::renew : Call::release;
    if (f == Call::renew) --client.renewals;
    record(client, request(client, f));
    client.stage = Stage::asking;
    return true;
  }

  bool request_arrives(std::uint32_t number) {
    Client& client = clients_[number];
    const bool renews = generated_.operations[client.open].f == Call::renew;
    const bool lost = rng_.chance(recipe_.unknown);
    const bool arrives = !lost || rng_.chance(0.5);
    if (renews && arrives) client.refreshed = now_++;
    if (!renews && arrives) --holders_;
    client.stage = Stage::answered;
    if (!lost) return true;
    lose(client);
    if (renews || !arrives) abandon(client);
    return goes_outside(number);
  }

  // Right after one holder has heard of its grant another attempt is granted, too, and hears of it.
  void plant() {
    if (outside_.empty() || holders_ != 1) return;
    const std::uint32_t number = outside_.back();
    outside_.pop_back();
    Client& client = clients_[number];
    attempt(client);
    granted(client);
    generated_.operations[client.open].ret = now_++;
    client.stage = Stage::holding;
    ready_.push_back(number);
    planted_ = true;
  }

  [[nodiscard]] Instant next_to_wake() const {
    Instant next = kNever;
    for (const std::uint32_t number : sleeping_) next = std::min(next, clients_[number].wakes);
    return next;
  }

  void wake_sleepers() {
    for (std::size_t at = 0; at < sleeping_.size();) {
      const std::uint32_t number = sleeping_[at];
      Client& client = clients_[number];
      if (client.wakes > now_) {
        ++at;
        continue;
      }
      sleeping_[at] = sleeping_.back();
      sleeping_.pop_back();
      record(client, request(client, Call::release));
      client.stage = Stage::late;
      ready_.push_back(number);
    }
  }

  const Recipe& recipe_;
  Rng rng_;
  std::size_t position_;
  Generated generated_;
  std::vector<Client> clients_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> outside_;
  std::vector<std::uint32_t> sleeping_;
  std::size_t polling_ = 0;
  std::uint32_t holders_ = 0;
  Instant expires_ = kNever;  // of a hold that nobody will release
  std::uint32_t next_process_ = 0;
  std::uint32_t next_hold_ = 0;
  Instant now_ = 0;
  bool planted_ = false;
};

}  // namespace

Generated generate_leases(const Recipe& recipe) {
  return Leases(recipe).run();
}

}  // namespace holdfast::bench
