#include "checkers/online/engine_monitor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkers/oracle/oracle.h"
#include "checkers/porcupine/test_models.h"
#include "harness/rng.h"

namespace holdfast::online {
namespace {

using porcupine::testing::Ask;
using porcupine::testing::EveryOrder;
using porcupine::testing::PlainRegister;
using porcupine::testing::SharedRegister;

// A mutex that knows its holder. The answer is 1, or 0: "somebody else holds it", "you do not hold it".
struct Mutex {
  struct Input {
    bool acquires = true;
    int owner = 0;
    friend bool operator==(const Input&, const Input&) = default;
  };
  using State = int;
  using Output = int;
  bool sessions = false;
  [[nodiscard]] static State init() { return 0; }
  [[nodiscard]] static std::optional<State> step(State holder, const Input& input, const int* seen) {
    const bool allowed = input.acquires ? holder == 0 : holder == input.owner;
    if (seen != nullptr && *seen == 0) return allowed ? std::nullopt : std::optional(holder);
    if (!allowed) return std::nullopt;
    return input.acquires ? input.owner : 0;
  }
  [[nodiscard]] static std::size_t hash(State holder) { return static_cast<std::size_t>(holder); }
  [[nodiscard]] static bool read_only(const Input& /*input*/, const int* seen) { return seen != nullptr && *seen == 0; }
  [[nodiscard]] static std::size_t request_hash(const Input& input, const int* seen) {
    return static_cast<std::size_t>(input.owner * 2 + (input.acquires ? 1 : 0) + (seen == nullptr ? 50 : *seen * 100));
  }
  [[nodiscard]] bool ordered_sessions() const { return sessions; }
};

enum class What : std::uint8_t { call, returned, failed, unknown };

template <class M>
struct Step {
  What what = What::call;
  std::size_t operation = 0;
  std::uint32_t client = 0;
  typename M::Input input{};
  typename M::Output output{};
};

// What is known after each step, checked anew by trying every order. SIZE_MAX: all of it is possible.
template <class M>
std::size_t first_impossible(const M& model, const std::vector<Step<M>>& steps, bool sessions) {
  porcupine::testing::History<M> history;
  std::vector<bool> failed;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step<M>& step = steps[i];
    if (step.what == What::call) {
      history.push_back({.input = step.input,
                         .output = std::nullopt,
                         .call = static_cast<porcupine::Instant>(i),
                         .client = step.client});
      failed.push_back(false);
      continue;
    }
    if (step.what == What::unknown) continue;
    if (step.what == What::failed) failed[step.operation] = true;
    if (step.what == What::returned) {
      history[step.operation].output = step.output;
      history[step.operation].ret = static_cast<porcupine::Instant>(i);
    }
    porcupine::testing::History<M> happened;
    for (std::size_t k = 0; k < history.size(); ++k) {
      if (!failed[k]) happened.push_back(history[k]);
    }
    if (!EveryOrder<M>(model, happened, sessions).possible()) return i;
  }
  return SIZE_MAX;
}

template <class M>
void feed(EngineMonitor<M>& monitor, const Step<M>& step) {
  switch (step.what) {
    case What::call:
      return monitor.call(step.operation, step.client, step.input);
    case What::returned:
      monitor.returned(step.operation, step.output);
      return;
    case What::failed:
      monitor.failed(step.operation);
      return;
    case What::unknown:
      return monitor.unknown(step.operation);
  }
}

template <class M>
std::size_t first_reported(const M& model, const std::vector<Step<M>>& steps) {
  EngineMonitor<M> monitor(model);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    feed(monitor, steps[i]);
    if (monitor.standing() == Standing::possible) continue;
    EXPECT_EQ(monitor.standing(), Standing::violated);
    EXPECT_EQ(monitor.event(), i);
    EXPECT_FALSE(monitor.because().empty());
    return i;
  }
  return SIZE_MAX;
}

// Clients that call, and a real object that mostly answers truly: effects happen at random moments.
template <class M, class Ask>
std::vector<Step<M>> random_steps(const M& model, std::size_t count, bool goes_on, Rng& rng, const Ask& ask) {
  struct Client {
    std::optional<std::size_t> open;
    typename M::Input input{};
    std::optional<int> answer;  // the effect has happened
    bool gone = false;
  };
  std::vector<Client> clients(1 + rng.below(4));
  typename M::State state = model.init();
  const double lies = rng.chance(0.5) ? 0.1 : 0.0;
  std::vector<Step<M>> steps;
  std::size_t operations = 0;
  for (std::size_t turns = 0; turns < 8 * count; ++turns) {
    const auto number = static_cast<std::uint32_t>(rng.below(clients.size()));
    Client& client = clients[number];
    if (client.gone) continue;
    if (!client.open) {
      if (operations == count) continue;
      client.input = ask(rng, number);
      client.open = operations++;
      client.answer.reset();
      steps.push_back({What::call, *client.open, number, client.input});
      continue;
    }
    if (!client.answer && rng.chance(0.7)) {
      for (const int answer : {1, 0, 2, 3}) {
        const auto next = model.step(state, client.input, &answer);
        if (!next) continue;
        state = *next;
        client.answer = answer;
        break;
      }
      continue;
    }
    Step<M> step{What::returned, *client.open, number, client.input};
    step.output = client.answer.value_or(0);
    if (rng.chance(lies)) step.output = static_cast<int>(rng.below(3));
    if (rng.chance(0.15)) step.what = What::unknown;
    if (!client.answer) step.what = rng.chance(0.5) ? What::failed : What::unknown;
    if (rng.chance(lies / 2)) step.what = What::failed;
    steps.push_back(step);
    client.open.reset();
    client.gone = step.what == What::unknown && !goes_on;
  }
  return steps;
}

template <class M, class Ask>
void compare(const M& model, bool sessions, std::uint64_t seed, const Ask& ask) {
  Rng rng(seed);
  const std::uint64_t cases = oracle::random_cases();
  std::uint64_t violations = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const auto steps = random_steps(model, 3 + rng.below(9), sessions || rng.chance(0.5), rng, ask);
    const std::size_t truth = first_impossible(model, steps, sessions);
    violations += truth != SIZE_MAX ? 1 : 0;
    ASSERT_EQ(first_reported(model, steps), truth) << "history " << i;
  }
  EXPECT_GT(violations, cases / 20);
  EXPECT_LT(violations, cases * 9 / 10);
}

porcupine::testing::Input any_register_request(Rng& rng, std::uint32_t /*client*/) {
  return {static_cast<Ask>(rng.below(3)), static_cast<int>(rng.below(3)), static_cast<int>(rng.below(3))};
}
Mutex::Input any_mutex_request(Rng& rng, std::uint32_t client) {
  return {rng.chance(0.5), static_cast<int>(client) + 1};
}

TEST(EngineMonitor, NamesTheFirstEventOfRandomRegisterHistories) {
  compare(PlainRegister{}, false, 81, any_register_request);
}
TEST(EngineMonitor, NamesTheFirstEventWithTheHooksOfAModel) {
  compare(SharedRegister{}, false, 82, any_register_request);
}
TEST(EngineMonitor, NamesTheFirstEventOfRegisterSessions) {
  SharedRegister model;
  model.sessions = true;
  compare(model, true, 83, any_register_request);
}
TEST(EngineMonitor, NamesTheFirstEventOfRandomMutexHistories) {
  compare(Mutex{}, false, 84, any_mutex_request);
}
TEST(EngineMonitor, NamesTheFirstEventOfMutexSessions) {
  compare(Mutex{.sessions = true}, true, 85, any_mutex_request);
}

TEST(EngineMonitor, AWriteThatFailsAfterItWasSeenLeavesNoExplanation) {
  for (const bool fails : {true, false}) {
    EngineMonitor<SharedRegister> monitor{{}};
    monitor.call(0, 0, {Ask::write, 1});
    monitor.call(1, 1, {Ask::read});
    EXPECT_EQ(monitor.returned(1, 1), Standing::possible);
    EXPECT_EQ(fails ? monitor.failed(0) : monitor.returned(0, 0), fails ? Standing::violated : Standing::possible);
    if (!fails) continue;
    EXPECT_EQ(monitor.event(), 3U);
    EXPECT_EQ(monitor.culprit(), 1U);
    EXPECT_EQ(monitor.because(), "the register holds 0");
  }
}

// Three clients for a long time; one of them sleeps through a good part of it again and again.
TEST(EngineMonitor, FreesWhatIsOver) {
  EngineMonitor<SharedRegister> monitor{{}};
  std::uint64_t id = 0;
  std::size_t most = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t slow = id++;
    monitor.call(slow, 0, {Ask::write, 1'000'000 + round});
    for (int i = 0; i < 3; ++i) {
      monitor.call(id, 1, {Ask::write, round});
      monitor.call(id + 1, 2, {Ask::read});
      ASSERT_EQ(monitor.returned(id, 0), Standing::possible);
      ASSERT_EQ(monitor.returned(id + 1, round), Standing::possible);
      id += 2;
    }
    ASSERT_EQ(monitor.returned(slow, 0), Standing::possible);
    most = std::max(most, monitor.bytes());
  }
  EXPECT_LT(most, 200'000U);
  monitor.call(id, 1, {Ask::read});
  EXPECT_EQ(monitor.returned(id, 7), Standing::violated);
  EXPECT_EQ(monitor.event(), 20'000U * 14 + 1);
}

// Flags that are only ever raised: each subset of those that may have been raised is a state of its own.
struct Flags {
  using State = std::uint64_t;
  using Input = int;  // which one to raise; -1: look at all
  using Output = std::uint64_t;
  [[nodiscard]] static State init() { return 0; }
  [[nodiscard]] static std::optional<State> step(State state, int flag, const std::uint64_t* seen) {
    if (flag >= 0) return state | std::uint64_t{1} << static_cast<unsigned>(flag);
    return seen == nullptr || *seen == state ? std::optional(state) : std::nullopt;
  }
  [[nodiscard]] static std::size_t hash(State state) { return state; }
};

TEST(EngineMonitor, GivesUpWhereTheMemoryRunsOutAndSaysWhere) {
  constexpr std::uint64_t kNobodyRaised = std::uint64_t{1} << 50U;
  for (const int flags : {6, 30}) {
    EngineMonitor<Flags> monitor({}, 1U << 20U);
    for (int flag = 0; flag < flags; ++flag) {
      monitor.call(static_cast<std::uint64_t>(flag), 0, flag);
      monitor.unknown(static_cast<std::uint64_t>(flag));
    }
    monitor.call(100, 1, -1);
    const Standing standing = flags == 6 ? Standing::violated : Standing::gave_up;
    EXPECT_EQ(monitor.returned(100, kNobodyRaised), standing) << monitor.because();
    EXPECT_EQ(monitor.event(), static_cast<std::uint64_t>(2 * flags) + 1);
    EXPECT_LT(monitor.bytes(), 1000U);
    monitor.call(101, 1, -1);
    EXPECT_EQ(monitor.returned(101, kNobodyRaised), standing);  // never a guess
    EXPECT_EQ(monitor.event(), static_cast<std::uint64_t>(2 * flags) + 1);
  }
}

TEST(EngineMonitor, RefusesWhatMakesNoSense) {
  EngineMonitor<PlainRegister> monitor{{}};
  monitor.call(1, 0, {Ask::read});
  EXPECT_THROW(monitor.call(1, 0, {Ask::read}), std::invalid_argument);
  EXPECT_THROW(monitor.returned(2, 0), std::invalid_argument);
  EXPECT_EQ(monitor.returned(1, 0), Standing::possible);
  EXPECT_THROW(monitor.unknown(1), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::online
