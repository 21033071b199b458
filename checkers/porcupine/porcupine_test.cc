#include "checkers/porcupine/porcupine.h"

#include <gmock/gmock.h>

#include "checkers/porcupine/test_models.h"

namespace holdfast::porcupine {
namespace {

using testing::Ask;
using testing::CellRegister;
using testing::converted;
using ::testing::ElementsAre;
using testing::History;
using testing::PlainRegister;
using testing::SharedRegister;

template <class M>
Result checked(const M& model, const History<M>& history, const Options& options = {}) {
  return check(model, std::span<const Operation<M>>(history), options);
}
template <class M>
Operation<M> write(int value, Instant call, Instant ret, std::uint32_t client) {
  return {{Ask::write, value, 0}, 0, call, ret, client};
}
template <class M>
Operation<M> read(int value, Instant call, Instant ret, std::uint32_t client) {
  return {{Ask::read, 0, 0}, value, call, ret, client};
}

// Compares one search, or both, on one model with the truth.
template <class M>
void compare(const M& model, const History<M>& history, bool truth, bool sessions, const Options& options) {
  const Result result = checked(model, history, options);
  ASSERT_EQ(result.verdict == Verdict::ok, truth);
  ASSERT_NE(result.verdict, Verdict::unknown);
  if (truth) {
    ASSERT_EQ(testing::fault(model, history, result.witness, sessions), "");
  } else {
    ASSERT_TRUE(result.first_illegal_return.has_value());
  }
}

TEST(Porcupine, RandomHistoriesAgreeWithTryingEveryOrder) {
  std::mt19937 random(1);
  int possible = 0;
  for (int i = 0; i < 30'000; ++i) {
    const bool sessions = i % 2 == 0;
    const auto plain = testing::random_history(random, 8, sessions);
    const bool truth = testing::EveryOrder(PlainRegister{}, plain, false).possible();
    const bool in_session = testing::EveryOrder(PlainRegister{}, plain, sessions).possible();
    possible += truth ? 1 : 0;
    const Options options{.threads = static_cast<unsigned>(1 + i % 2), .searches = static_cast<Searches>(i % 3)};
    ASSERT_NO_FATAL_FAILURE(compare(PlainRegister{}, plain, truth, false, options)) << i;
    SharedRegister shared;
    shared.sessions = sessions;
    ASSERT_NO_FATAL_FAILURE(compare(shared, converted<SharedRegister>(plain), in_session, sessions, options)) << i;
    CellRegister cell;
    cell.sessions = sessions;
    ASSERT_NO_FATAL_FAILURE(compare(cell, converted<CellRegister>(plain), in_session, sessions, options)) << i;
  }
  EXPECT_GT(possible, 3'000);
  EXPECT_LT(possible, 27'000);
}

// Every history of three operations on two values.
TEST(Porcupine, AllSmallHistoriesAgreeWithTryingEveryOrder) {
  const std::vector<std::pair<testing::Input, std::optional<int>>> menu = {
      {{Ask::read, 0, 0}, 0},  {{Ask::read, 0, 0}, 1}, {{Ask::write, 1, 0}, 0}, {{Ask::write, 1, 0}, std::nullopt},
      {{Ask::cas, 0, 1}, 1},   {{Ask::cas, 1, 0}, 1},  {{Ask::cas, 1, 0}, 0},   {{Ask::cas, 0, 1}, std::nullopt},
      {{Ask::write, 0, 0}, 0}, {{Ask::cas, 1, 1}, 0},
  };
  const std::vector<std::vector<std::pair<Instant, Instant>>> arrangements = {
      {{0, 1}, {2, 3}, {4, 5}}, {{0, 3}, {1, 2}, {4, 5}}, {{0, 2}, {1, 3}, {4, 5}}, {{0, 1}, {2, 4}, {3, 5}},
      {{0, 5}, {1, 2}, {3, 4}}, {{0, 2}, {1, 4}, {3, 5}}, {{0, 3}, {1, 4}, {2, 5}}, {{0, 5}, {1, 4}, {2, 3}}};
  for (const auto& times : arrangements) {
    for (std::size_t choice = 0; choice < menu.size() * menu.size() * menu.size(); ++choice) {
      History<PlainRegister> history;
      std::size_t rest = choice;
      for (std::uint32_t i = 0; i < 3; ++i, rest /= menu.size()) {
        const auto& [input, output] = menu[rest % menu.size()];
        history.push_back({input, output, times[i].first, output ? times[i].second : kNever, i});
      }
      const bool truth = testing::EveryOrder(PlainRegister{}, history, false).possible();
      const Options options{.threads = 1};
      ASSERT_NO_FATAL_FAILURE(compare(PlainRegister{}, history, truth, false, options)) << choice;
      ASSERT_NO_FATAL_FAILURE(compare(CellRegister{}, converted<CellRegister>(history), truth, false, options))
          << choice;
    }
  }
}

TEST(Porcupine, AStaleReadIsNamedAndExplained) {
  const History<SharedRegister> history = {write<SharedRegister>(1, 0, 1, 0), write<SharedRegister>(2, 2, 3, 0),
                                           read<SharedRegister>(1, 4, 5, 1), read<SharedRegister>(2, 6, 7, 1)};
  const Result result = checked(SharedRegister{}, history);
  EXPECT_EQ(result.verdict, Verdict::illegal);
  EXPECT_EQ(result.first_illegal_return, 2U);
  EXPECT_EQ(result.proven_until, 5);
  EXPECT_EQ(result.reason, "the register holds 2");
  ASSERT_EQ(result.partial.size(), 1U);
  EXPECT_THAT(result.partial.front(), ElementsAre(0, 1));

  History<SharedRegister> correct = history;
  correct[2].output = 2;
  const Result twin = checked(SharedRegister{}, correct);
  EXPECT_EQ(twin.verdict, Verdict::ok);
  EXPECT_THAT(twin.witness, ElementsAre(0, 1, 2, 3));
}

TEST(Porcupine, EventsAreTheSameAsOperations) {
  using E = Event<PlainRegister>;
  const testing::Input reading{Ask::read, 0, 0};
  std::vector<E> events = {
      {1, 0, testing::Input{Ask::write, 3, 0}, {}}, {2, 1, reading, {}}, {2, 1, {}, 3}, {3, 1, reading, {}}};
  EXPECT_EQ(check_events(PlainRegister{}, std::span<const E>(events)).verdict, Verdict::ok);
  events.push_back({3, 1, {}, 0});
  EXPECT_EQ(check_events(PlainRegister{}, std::span<const E>(events)).verdict, Verdict::illegal);
}

// An unknown write of a session is over once its client has done something else; without sessions it can come late.
TEST(Porcupine, SessionsBoundUnknownOperations) {
  CellRegister model;
  const History<CellRegister> history = {{{Ask::write, 1, 0}, std::nullopt, 0, kNever, 0},
                                         write<CellRegister>(2, 1, 2, 0),
                                         read<CellRegister>(2, 3, 4, 1),
                                         read<CellRegister>(1, 5, 6, 1)};
  EXPECT_EQ(checked(model, history).verdict, Verdict::ok);
  model.sessions = true;
  EXPECT_EQ(checked(model, history).verdict, Verdict::illegal);
}

// More operations at once than one word, than two words, and than any set has places for.
template <class M>
void expect_wide(const M& model, int pending, const Options& options) {
  History<M> history;
  for (int i = 0; i < pending; ++i) {
    history.push_back(write<M>(i + 1, i, 10'000 + i, static_cast<std::uint32_t>(i)));
  }
  for (int i = 0; i < pending; ++i) {
    history.push_back(read<M>(pending - i, 20'000 + 2 * i, 20'001 + 2 * i, static_cast<std::uint32_t>(i)));
  }
  EXPECT_EQ(checked(model, History<M>(history.begin(), history.begin() + pending + 1), options).verdict, Verdict::ok)
      << pending;
  EXPECT_EQ(checked(model, history, options).verdict, Verdict::illegal) << pending;
}
TEST(Porcupine, ManyPendingOperations) {
  for (const int pending : {60, 64, 65, 100, 128, 129, 300}) expect_wide(CellRegister{}, pending, {});
  History<CellRegister> history;
  for (std::uint32_t i = 0; i < 2'100; ++i) history.push_back(write<CellRegister>(1, 0, 1, i));
  history.push_back(read<CellRegister>(1, 0, 1, 9'999));
  const Result result = checked(CellRegister{}, history);
  EXPECT_EQ(result.verdict, Verdict::unknown);
  EXPECT_THAT(result.reason, ::testing::HasSubstr("2048 operations"));
}

// A thousand equal unknown operations are one counter.
TEST(Porcupine, EqualUnknownOperationsAreOneClass) {
  History<SharedRegister> history;
  for (std::uint32_t i = 0; i < 1'000; ++i) history.push_back({{Ask::cas, 1, 0}, std::nullopt, 0, kNever, i});
  for (int i = 0; i < 50; ++i) {
    history.push_back(write<SharedRegister>(0, 10 * i + 1, 10 * i + 2, 5'000));
    history.push_back(read<SharedRegister>(1, 10 * i + 3, 10 * i + 4, 5'000));
  }
  const Result result = checked(SharedRegister{}, history);
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_LT(result.statistics.configurations, 20'000U);
  history.push_back(read<SharedRegister>(0, 10'000, 10'001, 5'000));
  EXPECT_EQ(checked(SharedRegister{}, history).verdict, Verdict::illegal);
}

// Many registers, the key in the upper digits of the value.
struct Registers : PlainRegister {
  static constexpr int kKey = 1'000;
  [[nodiscard]] static std::optional<State> step(State state, const Input& input, const int* seen) {
    return PlainRegister::step(state, {input.ask, input.value % kKey, input.expected % kKey}, seen);
  }
  [[nodiscard]] static std::vector<std::vector<std::uint32_t>> partition(
      std::span<const Operation<Registers>> operations) {
    std::vector<std::vector<std::uint32_t>> groups(8);
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      groups[static_cast<std::size_t>(operations[i].input.value / kKey)].push_back(i);
    }
    return groups;
  }
};
TEST(Porcupine, PartitionsAreIndependentAndTheirWitnessesMerge) {
  History<Registers> history;
  for (int i = 0; i < 400; ++i) {
    const int key = i % 8 * Registers::kKey;
    history.push_back({{Ask::write, key + i % 7, 0}, 0, 10 * i, 10 * i + 25, static_cast<std::uint32_t>(i % 8)});
    history.push_back({{Ask::read, key, 0}, i % 7, 10 * i + 26, 10 * i + 27, static_cast<std::uint32_t>(i % 8)});
  }
  for (const unsigned threads : {1U, 4U}) {
    const Result result = checked(Registers{}, history, {.threads = threads});
    EXPECT_EQ(result.verdict, Verdict::ok);
    EXPECT_EQ(result.statistics.partitions, 8U);
    EXPECT_EQ(result.witness.size(), history.size());
    Instant latest = 0;
    for (const std::uint32_t number : result.witness) {
      EXPECT_GE(history[number].ret, latest);
      latest = std::max(latest, history[number].call);
    }
  }
  history[301].output = 6 - *history[301].output + 1;
  const Result broken = checked(Registers{}, history, {.threads = 4});
  EXPECT_EQ(broken.verdict, Verdict::illegal);
  EXPECT_EQ(broken.first_illegal_return, 301U);
}

// Hard on purpose: compare-and-set operations with unknown outcome, all different, under many pending writes.
History<PlainRegister> hard_history() {
  History<PlainRegister> history;
  std::mt19937 random(5);
  for (std::uint32_t i = 0; i < 60; ++i) {
    history.push_back(write<PlainRegister>(static_cast<int>(i), 10, 1'000, i));
    history.push_back(
        {{Ask::cas, static_cast<int>(random() % 60), static_cast<int>(i)}, std::nullopt, 10, kNever, i + 100});
  }
  for (int i = 0; i < 30; ++i) history.push_back(read<PlainRegister>(i % 7, 20 + 2 * i, 21 + 2 * i, 999));
  history.push_back(read<PlainRegister>(-1, 2'000, 2'001, 999));
  return history;
}
TEST(Porcupine, TimeIsObeyedInsideTheLoops) {
  for (const unsigned threads : {1U, 2U}) {
    const auto begin = std::chrono::steady_clock::now();
    const Result result = checked(PlainRegister{}, hard_history(),
                                  {.deadline = begin + std::chrono::milliseconds(200), .threads = threads});
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(result.verdict, Verdict::unknown);
    EXPECT_EQ(result.reason, "the time ran out");
    EXPECT_GT(result.proven_until, 0);
    EXPECT_LT(took, std::chrono::seconds(2));  // far above 1.2 x: the machine may be busy
  }
}
TEST(Porcupine, MemoryIsObeyedInsideTheLoops) {
  for (const unsigned threads : {1U, 2U}) {
    const Result result = checked(PlainRegister{}, hard_history(), {.bytes = 4'000'000, .threads = threads});
    EXPECT_EQ(result.verdict, Verdict::unknown);
    EXPECT_EQ(result.reason, "the memory ran out");
    EXPECT_LE(result.statistics.peak_bytes, 4'800'000U);
    EXPECT_GT(result.proven_until, 0);
  }
}
TEST(Porcupine, AStopIsObeyed) {
  // On the heap: on the stack, g++ 12 takes it for uninitialised under the sanitizers.
  const auto stop = std::make_unique<std::stop_source>();
  stop->request_stop();
  EXPECT_EQ(checked(PlainRegister{}, hard_history(), {.stop = stop->get_token()}).verdict, Verdict::unknown);
}

// A long valid history of a register with values that are written once, many clients: no search at all, in effect.
TEST(Porcupine, UniqueValuesNeedNoSearch) {
  std::mt19937 random(3);
  History<CellRegister> history;
  struct Client {
    Operation<CellRegister> open;
    int stage = 0;
  };
  std::vector<Client> clients(50);
  int value = 0;
  int last = 0;
  for (Instant now = 1; history.size() < 20'000; ++now) {
    const auto who = static_cast<std::uint32_t>(random() % clients.size());
    Client& client = clients[who];
    if (client.stage == 0) {
      client.open = {{random() % 2 == 0 ? Ask::read : Ask::write, ++last, 0}, 0, now, kNever, who};
    } else if (client.stage == 1) {
      if (client.open.input.ask == Ask::write) value = client.open.input.value;
      client.open.output = value;
    } else {
      client.open.ret = now;
      history.push_back(client.open);
    }
    client.stage = (client.stage + 1) % 3;
  }
  for (Client& client : clients) {
    client.open.output.reset();
    if (client.stage != 0) history.push_back(client.open);
  }
  for (const Searches searches : {Searches::layered, Searches::depth_first}) {
    const Result result = checked(CellRegister{}, history, {.threads = 1, .searches = searches});
    ASSERT_EQ(result.verdict, Verdict::ok);
    EXPECT_LT(result.statistics.configurations, 40 * history.size());
    EXPECT_LT(result.statistics.peak_bytes, 40U << 20U);
  }
  auto stale = history;
  const auto broken = std::ranges::find_if(
      stale.begin() + 15'000, stale.end(),
      [](const Operation<CellRegister>& each) { return each.input.ask == Ask::read && each.output; });
  broken->output = stale[5'000].input.ask == Ask::write ? stale[5'000].input.value : *stale[5'000].output;
  EXPECT_EQ(checked(CellRegister{}, stale, {.threads = 2}).verdict, Verdict::illegal);
}

}  // namespace
}  // namespace holdfast::porcupine
