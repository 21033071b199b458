// The parts of the searches on their own.
#include <gmock/gmock.h>

#include "checkers/porcupine/config_set.h"
#include "checkers/porcupine/test_models.h"

namespace holdfast::porcupine {
namespace {

using ::testing::ElementsAre;

TEST(Usage, CountsCompareByClass) {
  UsageTable table;
  const std::uint32_t a = table.add(table.add(0, 7), 3);
  EXPECT_EQ(a, table.add(table.add(0, 3), 7));
  EXPECT_EQ(table.count(a, 7), 1U);
  EXPECT_EQ(table.total(a), 2U);
  const std::uint32_t more = table.add(a, 7);
  EXPECT_TRUE(table.within(a, more));
  EXPECT_FALSE(table.within(more, a));
  EXPECT_FALSE(table.within(table.add(0, 9), more));
  EXPECT_EQ(table.without(more, [](std::uint32_t cls) { return cls == 7; }), table.add(0, 3));
  EXPECT_EQ(table.set(a, 7, 2), more);
}

TEST(Bits, Words) {
  Bits<2> a;
  a.set(3);
  a.set(100);
  Bits<2> b;
  b.set(100);
  EXPECT_TRUE(a.beyond(b));
  EXPECT_FALSE(b.beyond(a));
  EXPECT_EQ(a.minus(b).count(), 1U);
  std::vector<std::uint32_t> members;
  a.each([&](std::uint32_t i) { members.push_back(i); });
  EXPECT_THAT(members, ElementsAre(3, 100));
  a.clear(3);
  EXPECT_EQ(a, b);
}

TEST(Paths, ArePrunedWithTheirLastUser) {
  PathStore store;
  const std::uint32_t trunk = store.extend(0, std::vector<std::uint32_t>{1, 2});
  const std::uint32_t left = store.extend(trunk, std::vector<std::uint32_t>{3});
  const std::uint32_t right = store.extend(trunk, std::vector<std::uint32_t>{4, 5});
  store.drop(trunk);
  EXPECT_THAT(store.trail(left), ElementsAre(1, 2, 3));
  EXPECT_THAT(store.trail(right), ElementsAre(1, 2, 4, 5));
  const std::size_t bytes = store.bytes();
  store.drop(left);
  for (std::uint32_t i = 0; i < 1'000; ++i) store.drop(store.extend(right, std::vector<std::uint32_t>{i}));
  EXPECT_THAT(store.trail(right), ElementsAre(1, 2, 4, 5));
  EXPECT_LE(store.bytes(), bytes * 2);
}

Request request(std::uint32_t number, Instant call, Instant ret, std::uint32_t client, bool known = true) {
  return {.call = call, .ret = ret, .client = client, .original = number, .cls = number, .known = known};
}

TEST(TimelineOfEvents, SlotsAreUsedAgainAndTiesAreConcurrent) {
  const Timeline timeline({request(0, 0, 5, 0), request(1, 5, 9, 1), request(2, 6, 7, 0), request(3, 8, 8, 0)}, 4,
                          false);
  EXPECT_EQ(timeline.slots(), 2U);
  EXPECT_LT(timeline.op(1).call_at, timeline.op(0).return_at);
  EXPECT_FALSE(timeline.has_ties());
  const Timeline tied({request(0, 0, 5, 0), request(1, 5, 9, 0)}, 2, false);
  EXPECT_EQ(tied.op(1).after, 0U);
}

TEST(TimelineOfEvents, ChainsEndWithTheNextKnownOperationOfTheClient) {
  const Timeline timeline({request(0, 0, kNever, 0, false), request(1, 1, kNever, 0, false), request(2, 2, 3, 0),
                           request(3, 4, kNever, 0, false)},
                          4, true);
  ASSERT_EQ(timeline.op(0).chain, timeline.op(1).chain);
  EXPECT_EQ(timeline.chain(timeline.op(0).chain).closer, 2U);
  EXPECT_EQ(timeline.op(3).chain, kNone);  // alone at the end: a counter does
  EXPECT_TRUE(timeline.counts(timeline.op(3)));
}

TEST(WindowOfEvents, GoesBackTheWayItCame) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const auto history = testing::random_history(random, 10, true);
    std::vector<Request> requests;
    for (std::uint32_t k = 0; k < history.size(); ++k) {
      requests.push_back(request(k, history[k].call, history[k].ret, history[k].client, history[k].output.has_value()));
    }
    const Timeline timeline(requests, static_cast<std::uint32_t>(history.size()), i % 2 == 0);
    Window window(timeline);
    std::vector<std::vector<std::uint32_t>> there;
    const auto picture = [&] {
      std::vector<std::uint32_t> all = window.movers();
      all.insert(all.end(), window.chains().begin(), window.chains().end());
      all.insert(all.end(), window.unknown_classes().begin(), window.unknown_classes().end());
      return all;
    };
    while (!window.at_end()) {
      there.push_back(picture());
      window.forward();
    }
    while (!there.empty()) {
      window.backward();
      ASSERT_EQ(picture(), there.back());
      there.pop_back();
    }
  }
}

}  // namespace
}  // namespace holdfast::porcupine
