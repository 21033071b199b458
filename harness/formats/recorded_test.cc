#include "harness/formats/recorded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "harness/formats/builder.h"

namespace holdfast::formats {
namespace {

TEST(TextTable, GivesEachTextOneNumber) {
  TextTable table;
  std::vector<TextId> ids;
  for (int i = 0; i < 10'000; ++i) ids.push_back(table.intern(fmt::format("text {}", i)));
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(table.intern(fmt::format("text {}", i)), ids[static_cast<std::size_t>(i)]);
    EXPECT_EQ(table[ids[static_cast<std::size_t>(i)]], fmt::format("text {}", i));
  }
  EXPECT_EQ(table.size(), 10'000U);
  EXPECT_EQ(table.find("text 17"), ids[17]);
  EXPECT_EQ(table.find("text 10000"), kNoText);
}

TEST(TextTable, KeepsEmptyAndHugeTexts) {
  TextTable table;
  const TextId empty = table.intern("");
  const TextId small = table.intern("a");
  const std::string huge(3'000'000, 'x');
  const TextId large = table.intern(huge);
  EXPECT_EQ(table.intern("b"), large + 1);
  EXPECT_EQ(table[empty], "");
  EXPECT_EQ(table[small], "a");
  EXPECT_EQ(table[large], huge);
  EXPECT_EQ(table.intern(huge), large);
}

class Values : public ::testing::Test {
 protected:
  HistoryBuilder& build() { return builder_; }
  RecordedValue list(const std::vector<RecordedValue>& parts) {
    const std::size_t mark = builder_.open();
    for (const RecordedValue part : parts) builder_.push(part);
    return builder_.close_list(mark);
  }
  RecordedValue map(const std::vector<std::pair<const char*, RecordedValue>>& members) {
    const std::size_t mark = push_members(members);
    return builder_.close_map(mark);
  }
  std::size_t push_members(const std::vector<std::pair<const char*, RecordedValue>>& members) {
    const std::size_t mark = builder_.open();
    for (const auto& [name, value] : members) {
      builder_.push_name(builder_.intern(name));
      builder_.push(value);
    }
    return mark;
  }

 private:
  HistoryBuilder builder_{Format::jsonl, false};
};

TEST_F(Values, IntegersOfEverySizeComeBack) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const std::int64_t edge = std::int64_t{1} << 59;
  const std::vector<std::int64_t> numbers = {0, 1, -1, edge - 1, edge, -edge, -edge - 1, kMost, kLeast};
  std::vector<RecordedValue> values;
  for (const std::int64_t number : numbers) values.push_back(build().integer(number));
  const RecordedValue again = build().integer(kMost);
  const RecordedHistory history = build().finish();
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    EXPECT_EQ(history.shape(values[at]), Shape::integer);
    EXPECT_EQ(history.integer(values[at]), numbers[at]);
    EXPECT_EQ(history.describe(values[at]), fmt::format("{}", numbers[at]));
  }
  EXPECT_TRUE(history.equal(values[7], again));
  EXPECT_FALSE(history.equal(values[7], values[8]));
}

TEST_F(Values, PairsAreHeldInPlaceOrInTheArenaAndLookTheSame) {
  const std::int64_t edge = std::int64_t{1} << 29;
  EXPECT_EQ(list({build().integer(-7), build().integer(edge - 1)}),
            list({build().integer(-7), build().integer(edge - 1)}))
      << "small ones need no arena";
  const RecordedValue inside = list({build().integer(-3), RecordedValue()});
  const RecordedValue outside = list({build().integer(edge), build().integer(-edge)});
  const RecordedValue least = list({build().integer(-edge), build().integer(1)});
  const RecordedHistory history = build().finish();
  EXPECT_EQ(history.describe(inside), "[-3,null]");
  EXPECT_EQ(history.describe(outside), "[536870912,-536870912]");
  EXPECT_EQ(history.describe(least), "[-536870912,1]");
  EXPECT_EQ(history.length(inside), 2U);
  EXPECT_EQ(history.element(inside, 0), build().integer(-3));
  EXPECT_TRUE(history.element(inside, 1).nothing());
}

TEST_F(Values, ListsAndMapsNest) {
  const RecordedValue inner = list({build().text("a"), build().boolean(true), build().real(0.5)});
  const RecordedValue value = map({{"x", inner}, {"y", map({})}, {"z", list({})}});
  const RecordedValue twin = map(
      {{"z", list({})}, {"y", map({})}, {"x", list({build().text("a"), build().boolean(true), build().real(0.5)})}});
  const RecordedValue other = map({{"x", inner}, {"y", map({})}, {"z", RecordedValue()}});
  const TextId x = build().intern("x");
  const RecordedHistory history = build().finish();
  EXPECT_EQ(history.describe(value), R"({"x":["a",true,0.5],"y":{},"z":[]})");
  EXPECT_TRUE(history.equal(value, twin)) << "the order of members says nothing";
  EXPECT_FALSE(history.equal(value, other));
  EXPECT_EQ(history.member(value, x), inner);
  EXPECT_EQ(history.boolean(history.element(inner, 1)), true);
  EXPECT_EQ(history.real(history.element(inner, 2)), 0.5);
  EXPECT_EQ(history.text(history.text_id(history.element(inner, 0))), "a");
  EXPECT_TRUE(history.member(inner, x).nothing()) << "a list has no members";
}

TEST_F(Values, TheValuesOfLocksNeedNoArena) {
  Draft draft;
  const auto event_map = [&](const std::vector<std::pair<const char*, RecordedValue>>& members) {
    return build().close_event_map(push_members(members), draft);
  };
  draft.event.value = event_map({{"hold", build().integer(12)}, {"lease_ms", build().integer(600)}});
  EXPECT_EQ(draft.event.hold, 12U);
  const RecordedEvent leased = draft.event;
  draft.event.value = event_map({{"token", build().integer(17)}});
  const RecordedEvent granted = draft.event;
  draft.event.value = event_map(
      {{"hold", build().integer(4'294'967'294)}, {"permits", build().integer(2)}, {"mode", build().text("read")}});
  EXPECT_EQ(draft.event.hold, 4'294'967'294U);
  const RecordedEvent shared = draft.event;
  const RecordedHistory history = build().finish();
  EXPECT_EQ(history.lease_ms(leased), 600);
  EXPECT_EQ(history.token(leased), std::nullopt);
  EXPECT_EQ(history.token(granted), 17);
  EXPECT_EQ(history.permits(shared), 2);
  EXPECT_EQ(history.text(history.mode(shared)), "read");
  EXPECT_EQ(history.describe(leased.value), R"({"lease_ms":600})");
}

TEST_F(Values, AHoldIsASmallNumber) {
  for (const RecordedValue hold : {build().integer(-1), build().integer(4'294'967'295), build().text("seven")}) {
    Draft draft;
    EXPECT_THROW(build().close_event_map(push_members({{"hold", hold}}), draft), Complaint);
  }
}

TEST(RecordedHistory, DrainingGivesEachEventOnce) {
  HistoryBuilder builder(Format::edn, false);
  constexpr std::int32_t kEvents = 10'000;
  for (std::int32_t at = 0; at < kEvents; ++at) {
    Draft draft;
    builder.set_process(draft, at);
    builder.set_type(draft, "invoke");
    draft.event.f = builder.intern("read");
    builder.add(draft);
  }
  RecordedHistory history = builder.finish();
  ASSERT_EQ(history.size(), 10'000U);
  std::int32_t next = 0;
  history.drain([&](const RecordedEvent& event) { EXPECT_EQ(event.process, next++); });
  EXPECT_EQ(next, kEvents);
  EXPECT_EQ(history.size(), 0U);
}

TEST(RecordedHistory, OrdinalsCountWhatWasKeptOut) {
  HistoryBuilder builder(Format::edn, false);
  const std::string who = "n0nn12n";  // n: the nemesis
  for (const char process : who) {
    Draft draft;
    draft.who = Draft::Who::other;
    if (process != 'n') builder.set_process(draft, process - '0');
    builder.set_type(draft, "invoke");
    draft.event.f = builder.intern("read");
    builder.add(draft);
  }
  const RecordedHistory history = builder.finish();
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history.kept_out, 4U);
  EXPECT_EQ(history.ordinal(0), 1U);
  EXPECT_EQ(history.ordinal(1), 4U);
  EXPECT_EQ(history.ordinal(2), 5U);
}

}  // namespace
}  // namespace holdfast::formats
