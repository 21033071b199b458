// The general search over the models of models.h. Verdict and witness come from the engine. A core is found by
// weakening: everything after the first return that nothing explains is irrelevant; then, nearest to that return first,
// the shortest list of obligations that is still impossible is sought by doubling and halving. Its last member belongs
// to every such list and is kept; the others are searched again (insertion-based extraction of a minimal unsatisfiable
// set). About |core| · log n checks, each of a history in which nearly all operations are unknown, and so left out; a
// weakened history can be far harder than the history itself, so this takes a second, or four times as long as the
// verdict did, at most. What is found by then is a core, if not a minimal one.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "checkers/objects/decision.h"
#include "checkers/objects/models.h"
#include "checkers/porcupine/porcupine.h"

namespace holdfast::objects {

namespace {

bool is_observation(const Operation& operation) {
  return operation.refused() || operation.f == Call::read || operation.f == Call::contains ||
         (operation.f == Call::extract && operation.result == kNothing);
}

template <class M>
porcupine::Operation<M> translated(const Promise& promise, const Operation& each) {
  const bool known = !each.unknown();
  const std::int64_t result = known || each.f == Call::cas ? each.result : kNothing;
  std::optional<Told> told;
  if (known) told = each.refused() ? Told::refused : Told::ok;
  return {{each.f, owner_of(promise, each), each.argument, result},
          told,
          each.call,
          known ? each.ret : kNever,
          each.process};
}

// `Make` builds the model for some operations.
template <class Make>
class Search {
 public:
  using M = std::invoke_result_t<Make, Operations>;

  Search(const Promise& promise, Operations operations, const Limits& limits, Make make)
      : promise_(promise), operations_(operations), limits_(limits), make_(std::move(make)) {}

  Decision run() {
    Decision decision;
    decision.searched = operations_.size();
    const auto start = std::chrono::steady_clock::now();
    porcupine::Result result = checked(operations_, limits_.witness);
    const auto now = std::chrono::steady_clock::now();
    const auto patience = std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(1), 4 * (now - start));
    if (limits_.deadline - now > patience) limits_.deadline = now + patience;
    switch (result.verdict) {
      case porcupine::Verdict::ok:
        decision.witness = std::move(result.witness);
        break;
      case porcupine::Verdict::unknown:
        decision.answer = Answer::undecided;
        decision.because = result.reason;
        decision.proven_until = result.proven_until;
        break;
      case porcupine::Verdict::illegal:
        decision.answer = Answer::violation;
        explain(decision, result);
        break;
    }
    return decision;
  }

 private:
  porcupine::Result checked(Operations operations, bool witness) const {
    std::vector<porcupine::Operation<M>> asked;
    asked.reserve(operations.size());
    for (const Operation& each : operations) asked.push_back(translated<M>(promise_, each));
    const M model = make_(operations);
    return porcupine::check(model, std::span<const porcupine::Operation<M>>(asked), options(witness));
  }
  [[nodiscard]] porcupine::Options options(bool witness) const {
    return {.deadline = limits_.deadline,
            .stop = limits_.stop,
            .bytes = limits_.bytes,
            .threads = limits_.threads,
            .want_witness = witness};
  }

  void explain(Decision& decision, const porcupine::Result& result) {
    std::vector<std::uint32_t> obligations;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      if (!operations_[i].unknown()) obligations.push_back(i);
    }
    std::ranges::stable_sort(obligations, {}, [this](std::uint32_t i) { return operations_[i].ret; });
    if (limits_.minimal_core) cut_after(obligations, *result.first_illegal_return);
    const Instant end = operations_[obligations.back()].ret;
    std::ranges::reverse(obligations);
    decision.rule = "no-order";
    decision.core = limits_.minimal_core ? minimal(std::move(obligations)) : std::move(obligations);
    std::ranges::sort(decision.core, {}, [this](std::uint32_t i) { return std::pair(operations_[i].call, i); });
    decision.from = operations_[decision.core.front()].call;
    decision.to = std::max(end, decision.from);
    decision.because = sentence(decision.core.size(), result.reason);
  }
  // Leaves the obligations, by return, up to the first return that makes the history impossible. The search stopped at
  // `near` or before it: it knows what those who were pending there will answer.
  void cut_after(std::vector<std::uint32_t>& obligations, std::uint32_t near) {
    pool_.resize(operations_.size());
    std::iota(pool_.begin(), pool_.end(), 0U);
    // The way out of a fair lock's queue disappears when it is weakened, so there anything can matter.
    if (promise_.kind == Kind::fair_mutex) return;
    const auto fails = [&](std::size_t length) {
      return length == obligations.size() || impossible(std::span(obligations).first(length), {});
    };
    auto possible = static_cast<std::size_t>(std::ranges::find(obligations, near) - obligations.begin());
    std::size_t failing = possible + 1;
    for (std::size_t more = 1; !fails(failing); more *= 2) {
      possible = failing;
      failing = limits_.reached() ? obligations.size() : std::min(obligations.size(), failing + more);
    }
    while (possible + 1 < failing && !limits_.reached()) {
      const std::size_t middle = possible + (failing - possible) / 2;
      (fails(middle) ? failing : possible) = middle;
    }
    obligations.resize(failing);
  }
  static std::string sentence(std::size_t size, const std::string& reason) {
    std::string text = size == 1 ? "{0} cannot be" : "";
    for (std::size_t i = 0; size > 1 && i < size && i < 8; ++i) {
      text += (i == 0 ? "{" : i + 1 == size ? " and {" : ", {") + std::to_string(i) + '}';
    }
    if (size > 8) text += " and " + std::to_string(size - 8) + " more";
    if (size > 1) text += " cannot all be";
    text += " as they say, in whatever order operations took effect";
    return reason.empty() ? text : text + "; at best " + reason;
  }

  // By nearness to the end; all of them together are impossible.
  std::vector<std::uint32_t> minimal(std::vector<std::uint32_t> rest) {
    std::vector<std::uint32_t> core;
    while (!limits_.reached()) {
      const std::size_t length = shortest(core, rest);
      if (length == 0) break;
      core.push_back(rest[length - 1]);
      rest.resize(length - 1);
    }
    if (limits_.reached()) core.insert(core.end(), rest.begin(), rest.end());
    if (promise_.kind != Kind::fair_mutex) return core;
    for (std::size_t i = 0; i < core.size() && !limits_.reached();) {  // weakening is not monotone there
      std::vector<std::uint32_t> fewer = core;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (impossible(fewer, {})) {
        core = std::move(fewer);
        i = 0;
      } else {
        ++i;
      }
    }
    return core;
  }
  // The least number of obligations of `rest` that are impossible together with `core`.
  std::size_t shortest(const std::vector<std::uint32_t>& core, const std::vector<std::uint32_t>& rest) {
    const auto fails = [&](std::size_t length) { return impossible(core, std::span(rest).first(length)); };
    std::size_t possible = 0;
    std::size_t failing = 0;
    for (; failing < rest.size() && !limits_.reached() && !fails(failing);
         failing = std::min(rest.size(), failing * 2 + 1)) {
      possible = failing + 1;
    }
    if (limits_.reached()) return rest.size();
    while (possible < failing) {
      const std::size_t middle = possible + (failing - possible) / 2;
      if (fails(middle)) {
        failing = middle;
      } else {
        possible = middle + 1;
      }
    }
    return failing;
  }

  // Are these obligations impossible with everything else weakened? Undecided counts as possible: the core may then be
  // larger than it need be, but it is a core.
  bool impossible(std::span<const std::uint32_t> core, std::span<const std::uint32_t> more) {
    std::vector<bool>& kept = kept_;
    kept.assign(operations_.size(), false);
    for (const std::uint32_t i : core) kept[i] = true;
    for (const std::uint32_t i : more) kept[i] = true;
    Instant end = std::numeric_limits<Instant>::min();  // what is called after the last of them returned is too late
    for (const auto& list : {core, more}) {
      for (const std::uint32_t i : list) end = std::max(end, operations_[i].ret);
    }
    std::vector<Operation> weakened;
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t i : pool_) {
      Operation operation = operations_[i];
      if (operation.call > end) continue;
      if (!kept[i] && !operation.unknown()) {
        if (is_observation(operation)) continue;
        operation.outcome = Outcome::unknown;
        operation.ret = kNever;
      }
      weakened.push_back(operation);
      numbers.push_back(i);
    }
    const bool fails = checked(weakened, false).verdict == porcupine::Verdict::illegal;
    if (fails && promise_.kind != Kind::fair_mutex) shrink_pool(weakened, numbers, kept);
    return fails;
  }
  // What could not matter among these obligations cannot matter among fewer. Obligations still in question stay.
  void shrink_pool(Operations weakened, const std::vector<std::uint32_t>& numbers, const std::vector<bool>& kept) {
    std::vector<porcupine::Operation<M>> asked;
    asked.reserve(weakened.size());
    for (const Operation& each : weakened) asked.push_back(translated<M>(promise_, each));
    const M model = make_(weakened);
    std::vector<std::uint32_t> next;
    for (const std::uint32_t place : porcupine::relevant(model, std::span<const porcupine::Operation<M>>(asked))) {
      next.push_back(numbers[place]);
    }
    for (const std::uint32_t i : pool_) {
      if (kept[i]) next.push_back(i);
    }
    std::ranges::sort(next);
    next.erase(std::ranges::unique(next).begin(), next.end());
    pool_ = std::move(next);
  }

  const Promise& promise_;
  Operations operations_;
  Limits limits_;
  Make make_;
  std::vector<std::uint32_t> pool_;  // what can still matter for the core
  std::vector<bool> kept_;
};

template <class Make>
Decision searched(const Promise& promise, Operations operations, const Limits& limits, Make make) {
  return Search<Make>(promise, operations, limits, std::move(make)).run();
}

// A set is as many independent objects as it has elements, unless somebody saw it whole, or a process did two things at
// one instant: then their order joins the elements.
bool falls_apart(Operations operations) {
  std::unordered_map<std::uint32_t, Instant> last_return;
  for (const Operation& each : operations) {
    if (each.f == Call::read) return false;
    const auto [last, first] = last_return.try_emplace(each.process, each.ret);
    if (!first && last->second == each.call) return false;
    if (!each.unknown()) last->second = each.ret;
  }
  return true;
}

}  // namespace

Decision search(const Promise& promise, Operations operations, const Limits& limits) {
  const auto cell = [&](Operations) { return CellModel{{&promise}}; };
  const auto number = [&](Operations) { return NumberModel{{&promise}}; };
  const auto collection = [&](Operations given) { return CollectionModel(promise, given); };
  switch (promise.kind) {
    case Kind::register_:
      return searched(promise, operations, limits, cell);
    case Kind::counter:
      return searched(promise, operations, limits, number);
    case Kind::mutex:
      if (promise.reentrancy == 1) return searched(promise, operations, limits, cell);
      [[fallthrough]];
    case Kind::fenced_mutex:
      return searched(promise, operations, limits, [&](Operations) { return OwnerModel{{&promise}}; });
    case Kind::anonymous_mutex:
      return promise.permits == 1 ? searched(promise, operations, limits, cell)
                                  : searched(promise, operations, limits, number);
    case Kind::append_map:
      return searched(promise, operations, limits, [&](Operations given) { return TextModel(promise, given); });
    case Kind::set:
      if (falls_apart(operations)) return searched(promise, operations, limits, cell);
      [[fallthrough]];
    case Kind::queue:
    case Kind::stack:
    case Kind::priority_queue:
    case Kind::multi_register:
    case Kind::rw_lock:
    case Kind::semaphore:
    case Kind::multi_lock:
    case Kind::fair_mutex:
      return searched(promise, operations, limits, collection);
    case Kind::lease_mutex:
      break;
  }
  throw std::invalid_argument("a lease is a matter of time: no order of operations alone decides it");
}

}  // namespace holdfast::objects
