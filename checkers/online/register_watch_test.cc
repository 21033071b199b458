#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "checkers/online/watch.h"
#include "checkers/oracle/oracle.h"

namespace holdfast::online {
namespace {

using objects::Call;
using objects::Instant;
using objects::kNever;
using objects::kNothing;
using objects::Operation;
using objects::Outcome;

// Events one after the other.
class Script {
 public:
  Script& add(EventType type, int process, const char* f, const Value& value, const char* key = "r1") {
    Event event;
    event.index = events_.size();
    event.type = type;
    event.process = Process{process};
    event.f = f;
    event.key = key;
    event.value = value;
    events_.push_back(event);
    return *this;
  }
  Script& write(int process, int value) {
    return add(EventType::invoke, process, "write", value).add(EventType::ok, process, "write", value);
  }
  Script& read(int process, const Value& seen) {
    return add(EventType::invoke, process, "read", nullptr).add(EventType::ok, process, "read", seen);
  }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }

 private:
  std::vector<Event> events_;
};

std::optional<Alarm> first_alarm(const Script& script) {
  const auto watch = watch_for("register");
  for (const Event& event : script.events()) {
    if (auto alarm = watch->see(event)) return alarm;
  }
  return std::nullopt;
}

TEST(RegisterWatch, AlarmsAtAStaleReadAndIsSilentOnItsTwin) {
  const auto alarm = first_alarm(Script().write(1, 7).write(2, 8).read(1, 7).read(2, 8));
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->event, 5U);
  EXPECT_EQ(alarm->because, "r1: a value was seen after another one had taken its place (asked for at events 0, 4, 2)");
  EXPECT_FALSE(first_alarm(Script().write(1, 7).write(2, 8).read(1, 8).read(2, 8)));
}

TEST(RegisterWatch, AlarmsWhenEverythingIsLost) {
  const auto alarm = first_alarm(Script().read(1, nullptr).write(1, 7).read(2, nullptr));
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->event, 5U);
}

TEST(RegisterWatch, AWriteOfUnknownOutcomeMayLandAtAnyTime) {
  Script script;
  script.add(EventType::invoke, 1, "write", 7).add(EventType::info, 1, "write", 7);
  script.write(2, 8).read(2, 8).read(3, 7);
  EXPECT_FALSE(first_alarm(script));
  EXPECT_TRUE(first_alarm(script.read(2, 8)));
}

TEST(RegisterWatch, LooksAwayWhereItCannotTell) {
  EXPECT_FALSE(first_alarm(Script().write(1, 7).write(1, 7).read(1, nullptr)));  // 7 is there twice
  EXPECT_FALSE(first_alarm(Script().write(1, 7).read(1, "seven").read(1, 9)));
  EXPECT_FALSE(first_alarm(Script().add(EventType::ok, 1, "read", 7)));  // nobody asked
}

// What became of each operation, as far as the first `count` events tell, by key.
std::map<std::string, oracle::History> judged(const std::vector<Event>& events, std::size_t count) {
  std::map<std::string, oracle::History> result;
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = events[i];
    if (event.type != EventType::invoke) continue;
    Operation operation{.call = static_cast<Instant>(i),
                        .process = static_cast<std::uint32_t>(number(event.process)),
                        .f = event.f == "read" ? Call::read : Call::write,
                        .outcome = Outcome::unknown};
    if (operation.f == Call::write) operation.argument = event.value.get<std::int64_t>();
    bool happened = true;
    for (std::size_t k = i + 1; k < count; ++k) {
      if (events[k].process != event.process) continue;
      happened = events[k].type != EventType::fail;
      if (events[k].type != EventType::ok) break;
      operation.outcome = Outcome::ok;
      operation.ret = static_cast<Instant>(k);
      if (operation.f == Call::read && !events[k].value.is_null()) operation.result = events[k].value.get<int>();
      break;
    }
    if (happened) result[event.key].push_back(operation);
  }
  return result;
}

std::optional<std::uint64_t> first_broken_prefix(const std::vector<Event>& events) {
  const objects::Promise promise{.kind = objects::Kind::register_};
  for (std::size_t count = 1; count <= events.size(); ++count) {
    for (const auto& [key, history] : judged(events, count)) {
      if (!oracle::possible(promise, history)) return events[count - 1].index;
    }
  }
  return std::nullopt;
}

// Two registers; reads see mostly the last value written, sometimes any other.
Script random_script(Rng& rng) {
  struct Client {
    std::string f;
    bool first = true;
    int written = 0;
    bool gone = false;
  };
  std::vector<Client> clients(3);
  std::vector<int> written = {0};
  Script script;
  for (std::uint64_t i = 0, count = 6 + rng.below(12); i < count; ++i) {
    const int process = static_cast<int>(rng.below(clients.size()));
    Client& client = clients[static_cast<std::size_t>(process)];
    if (client.gone) continue;
    if (client.f.empty()) {
      client.f = rng.chance(0.5) ? "read" : "write";
      client.first = rng.chance(0.8);
      if (client.f == "write") written.push_back(client.written = static_cast<int>(written.size()));
      script.add(EventType::invoke, process, client.f.c_str(), client.f == "read" ? Value() : Value(client.written),
                 client.first ? "r1" : "r2");
      continue;
    }
    Value value = client.written;
    if (client.f == "read") {
      const int seen = rng.chance(0.7) ? written.back() : written[rng.below(written.size())];
      value = seen == 0 ? Value() : Value(seen);
    }
    const EventType type = rng.chance(0.85) ? EventType::ok : rng.chance(0.5) ? EventType::fail : EventType::info;
    script.add(type, process, client.f.c_str(), value, client.first ? "r1" : "r2");
    client.f.clear();
    client.gone = type == EventType::info;
  }
  return script;
}

TEST(RegisterWatch, AgreesWithJudgingEveryPrefix) {
  std::uint64_t broken = 0;
  const std::uint64_t cases = oracle::random_cases();
  for (std::uint64_t i = 0; i < cases; ++i) {
    Rng rng = Rng(i).split("registers");
    const Script script = random_script(rng);
    const auto alarm = first_alarm(script);
    const auto expected = first_broken_prefix(script.events());
    ASSERT_EQ(alarm ? std::optional(alarm->event) : std::nullopt, expected) << "history " << i;
    broken += expected ? 1 : 0;
  }
  EXPECT_GT(broken, cases / 20);
  EXPECT_LT(broken, cases * 9 / 10);
}

}  // namespace
}  // namespace holdfast::online
