#include "checkers/verify/lease_witness.h"

#include <algorithm>
#include <limits>

#include "checkers/verify/sequential.h"

namespace holdfast::verify {

namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNone;
using objects::kNothing;
using objects::Operations;

// Who holds, and since when the lease runs. The service drops a hold as late as somebody needs that it is gone.
class LeaseMachine {
 public:
  explicit LeaseMachine(const Promise& promise) : promise_(promise) {}

  bool apply(const Operation& operation, Instant now) {
    const std::uint32_t owner = owner_of(promise_, operation);
    const bool mine = holder_ == owner && !is_gone(now);
    switch (operation.f) {
      case Call::acquire:
        if (operation.refused()) return holder_ != kNone && !is_gone(now);
        if (holder_ != kNone && !may_be_gone(now)) return false;
        holder_ = owner;
        least_ = operation.argument == kNothing ? promise_.lease_least : operation.argument;
        refreshed_ = now;
        return true;
      case Call::renew:
      case Call::release:
        if (operation.refused()) {
          if (mine && !may_be_gone(now)) return false;
          if (holder_ == owner) holder_ = kNone;
          return true;
        }
        if (!mine) return false;
        refreshed_ = now;
        if (operation.f == Call::release) holder_ = kNone;
        return true;
      default:
        return false;
    }
  }

 private:
  static bool passed(Instant since, Instant length, Instant now) { return length != kNever && now - since >= length; }
  [[nodiscard]] bool may_be_gone(Instant now) const { return passed(refreshed_, least_, now); }
  [[nodiscard]] bool is_gone(Instant now) const {
    const Instant greatest = std::max(least_, promise_.lease_greatest);
    return greatest != kNever && passed(refreshed_, greatest, now - 1);
  }

  const Promise& promise_;
  std::uint32_t holder_ = kNone;
  Instant least_ = kNever;
  Instant refreshed_ = 0;
};

}  // namespace

std::optional<std::string> refute_lease_instants(const Promise& promise, Operations operations,
                                                 const objects::Decision& decision) {
  if (decision.instants.size() != decision.witness.size()) return "the witness does not say when everything happened";
  LeaseMachine machine(promise);
  Instant before = std::numeric_limits<Instant>::min();
  for (std::size_t i = 0; i < decision.witness.size(); ++i) {
    const Operation& operation = operations[decision.witness[i]];
    const Instant now = decision.instants[i];
    const std::string name = "operation " + std::to_string(decision.witness[i]);
    if (now < before) return name + " happens in the witness before the one that it follows";
    if (now < operation.call || now > operation.ret) return name + " happens in the witness outside of its time";
    if (!machine.apply(operation, now)) return name + " is not allowed at its place in the witness";
    before = now;
  }
  return std::nullopt;
}

}  // namespace holdfast::verify
