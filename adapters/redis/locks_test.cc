// Every lock variant against a real Redis server: what it promises, and that the known flaw of each is really there.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "adapters/testing/servers.h"

namespace holdfast {
namespace {

constexpr int kLong = 30000;  // a lease that does not run out during a test
constexpr int kShort = 40;    // one that does, soon

class Locks : public testing::Test {
 protected:
  Subject subject(const std::string& variant, const Json& options = Json::object()) const {
    return {.command = {program("holdfast-redis-client"), variant},
            .servers = {redis_.address()},
            .resource = {},
            .options = options};
  }
  static Json acquire(int hold, int lease_ms, const std::string& key = "L1") {
    return {{"f", "acquire"}, {"key", key}, {"value", {{"hold", hold}, {"lease_ms", lease_ms}}}};
  }
  static Json release(int hold, const std::string& key = "L1") {
    return {{"f", "release"}, {"key", key}, {"value", {{"hold", hold}}}};
  }
  static Json stopping(Json request, const char* step) {
    request["stop_at"] = {step};
    return request;
  }
  // Tries with hold ids from 100 on until the lock is granted; the id, or 0.
  static int acquire_at_last(Speaker& client) {
    int hold = 100;
    const bool granted = eventually([&] { return client.request(acquire(++hold, kLong))["type"] == "ok"; });
    return granted ? hold : 0;
  }
  std::int64_t time_to_live() { return redis_.command({"PTTL", "L1"}).integer.value_or(-99); }
  bool exists() { return redis_.command({"EXISTS", "L1"}).integer == 1; }

  RedisServer redis_;
};

testing::AssertionResult is(const Json& answer, const char* type, const std::string& error = "") {
  if (answer["type"] == type && (error.empty() || answer["error"].get<std::string>().find(error) != std::string::npos))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << answer << " is not " << type << " " << error;
}

TEST_F(Locks, SetnxOutlivesItsHolder) {
  const auto setnx = subject("setnx");
  Speaker other(setnx, "c2");
  other.open();
  {
    Speaker holder(setnx, "c1");
    holder.open();
    ASSERT_TRUE(is(holder.request({{"f", "acquire"}, {"key", "L1"}, {"value", {{"hold", 1}}}}), "ok"));
    EXPECT_TRUE(redis_.command({"GET", "L1"}).text.value_or("").starts_with("c1:1:"));
  }
  EXPECT_EQ(time_to_live(), -1);
  EXPECT_TRUE(is(other.request(acquire(2, kLong)), "fail", "held"));
}

TEST_F(Locks, SetnxExpireHasNoLeaseBetweenItsCommands) {
  const auto variant = subject("setnx-expire");
  Speaker client(variant, "c1");
  client.open();
  const auto id = client.send(stopping(acquire(12, kLong), "setnx-done"));
  EXPECT_EQ(client.step(id),
            (Json{{"event", "step"}, {"id", id}, {"step", "setnx-done"}, {"key", "L1"}, {"value", {{"hold", 12}}}}));
  EXPECT_EQ(time_to_live(), -1);
  client.send_line(R"({"continue":)" + std::to_string(id) + "}");
  EXPECT_TRUE(is(client.answer(id), "ok"));
  EXPECT_GT(time_to_live(), 0);
}

TEST_F(Locks, SetnxExpireKilledBetweenItsCommandsLeavesTheLockForEver) {
  const auto variant = subject("setnx-expire");
  {
    Speaker client(variant, "c1");
    client.open();
    client.step(client.send(stopping(acquire(1, kShort), "setnx-done")));
  }
  EXPECT_EQ(time_to_live(), -1);
}

TEST_F(Locks, SetnxExpireOfALostServerIsUnknownAfterTheFirstCommand) {
  const auto variant = subject("setnx-expire");
  Speaker client(variant, "c1");
  client.open();
  const auto id = client.send(stopping(acquire(1, kLong), "setnx-done"));
  client.step(id);
  redis_.end();
  client.send_line(R"({"continue":)" + std::to_string(id) + "}");
  EXPECT_TRUE(is(client.answer(id), "info", "connect"));  // a refused connection, and yet not a fail
  EXPECT_TRUE(is(client.request(acquire(2, kLong)), "fail", "connect"));
}

TEST_F(Locks, SetpxDelFreesTheLockOfAnother) {
  const auto variant = subject("setpx-del");
  Speaker late(variant, "c1");
  Speaker other(variant, "c2");
  late.open();
  other.open();
  ASSERT_TRUE(is(late.request(acquire(1, kShort)), "ok"));
  const int hold = acquire_at_last(other);
  ASSERT_NE(hold, 0);
  EXPECT_TRUE(is(late.request(release(1)), "ok"));
  EXPECT_FALSE(exists());
  EXPECT_TRUE(is(other.request(release(hold)), "fail", "not-held"));
}

TEST_F(Locks, SetpxGetdelFreesTheLockOfAnotherBetweenGetAndDel) {
  const auto variant = subject("setpx-getdel");
  Speaker late(variant, "c1");
  Speaker other(variant, "c2");
  late.open();
  other.open();
  ASSERT_TRUE(is(late.request(acquire(1, 2000)), "ok"));
  const auto id = late.send(stopping(release(1), "get-done"));
  EXPECT_EQ(late.step(id)["value"], (Json{{"hold", 1}}));
  ASSERT_NE(acquire_at_last(other), 0);
  late.send_line(R"({"continue":)" + std::to_string(id) + "}");
  EXPECT_TRUE(is(late.answer(id), "ok"));
  EXPECT_FALSE(exists());
}

TEST_F(Locks, SetpxGetdelThatComesLateFreesNothing) {
  const auto variant = subject("setpx-getdel");
  Speaker late(variant, "c1");
  Speaker other(variant, "c2");
  late.open();
  other.open();
  ASSERT_TRUE(is(late.request(acquire(1, kShort)), "ok"));
  ASSERT_NE(acquire_at_last(other), 0);
  EXPECT_TRUE(is(late.request(stopping(release(1), "get-done")), "fail", "not-held"));
  EXPECT_TRUE(exists());
}

TEST_F(Locks, SetpxLuaThatComesLateFreesNothing) {
  const auto variant = subject("setpx-lua");
  Speaker late(variant, "c1");
  Speaker other(variant, "c2");
  late.open();
  other.open();
  ASSERT_TRUE(is(late.request(acquire(1, kShort)), "ok"));
  const int hold = acquire_at_last(other);
  ASSERT_NE(hold, 0);
  EXPECT_TRUE(is(late.request(release(1)), "fail", "not-held"));
  EXPECT_TRUE(is(other.request(release(hold)), "ok"));
}

TEST_F(Locks, WatchdogKeepsTheLockBeyondItsLease) {
  const auto variant = subject("setpx-lua-watchdog");
  Speaker client(variant, "c1");
  Speaker other(variant, "c2");
  client.open();
  other.open();
  ASSERT_TRUE(is(client.request(acquire(1, 3000)), "ok"));
  for (int renewal = 0; renewal < 4; ++renewal) {  // more than a lease, since each takes a third
    EXPECT_EQ(client.note("renewing")["value"], (Json{{"hold", 1}}));
    EXPECT_EQ(client.note("renewed")["key"], "L1");
  }
  EXPECT_TRUE(is(other.request(acquire(2, kLong)), "fail", "held"));
  EXPECT_TRUE(is(client.request(release(1)), "ok"));
}

TEST_F(Locks, WatchdogTellsWhenTheLockIsLost) {
  const auto variant = subject("setpx-lua-watchdog");
  Speaker client(variant, "c1");
  client.open();
  ASSERT_TRUE(is(client.request(acquire(7, 300)), "ok"));
  redis_.command({"SET", "L1", "somebody else"});
  EXPECT_EQ(client.note("lost"), (Json{{"event", "lost"}, {"key", "L1"}, {"value", {{"hold", 7}}}}));
  EXPECT_TRUE(is(client.request(release(7)), "fail", "not-held"));
}

TEST_F(Locks, WatchdogStopsAtTheRelease) {
  const auto variant = subject("setpx-lua-watchdog");
  Speaker client(variant, "c1");
  client.open();
  ASSERT_TRUE(is(client.request(acquire(1, 300)), "ok"));
  client.note("renewed");
  ASSERT_TRUE(is(client.request(release(1)), "ok"));
  ASSERT_TRUE(is(client.request(acquire(2, 300, "L2")), "ok"));
  for (int renewal = 0; renewal < 3; ++renewal) EXPECT_EQ(client.note("renewing")["value"], (Json{{"hold", 2}}));
  EXPECT_FALSE(exists());
}

TEST_F(Locks, WatchdogPausedPastItsLeaseFindsOutWhenItWakesUp) {
  const auto variant = subject("setpx-lua-watchdog");
  Speaker paused(variant, "c1");
  Speaker other(variant, "c2");
  paused.open();
  other.open();
  ASSERT_TRUE(is(paused.request(acquire(1, 300)), "ok"));
  kill(paused.child().pid(), SIGSTOP);
  ASSERT_NE(acquire_at_last(other), 0);
  kill(paused.child().pid(), SIGCONT);
  EXPECT_EQ(paused.note("lost")["value"], (Json{{"hold", 1}}));
}

TEST_F(Locks, FencedTokensGrowWithEachGrantAndOnlyThen) {
  const auto variant = subject("setpx-lua-fenced");
  Speaker one(variant, "c1");
  Speaker two(variant, "c2");
  one.open();
  two.open();
  EXPECT_EQ(one.request(acquire(1, kLong))["value"], (Json{{"token", 1}}));
  EXPECT_TRUE(is(two.request(acquire(2, kLong)), "fail", "held"));
  EXPECT_TRUE(is(one.request(release(1)), "ok"));
  EXPECT_EQ(two.request(acquire(3, kLong))["value"], (Json{{"token", 2}}));
}

TEST_F(Locks, FencedScriptThatFailsHalfWayIsUnknown) {
  const auto variant = subject("setpx-lua-fenced");
  redis_.command({"SET", "L1:token", "not a number"});
  Speaker client(variant, "c1");
  client.open();
  EXPECT_TRUE(is(client.request(acquire(1, kLong)), "info"));
  EXPECT_TRUE(exists());  // the script had already set the key
}

TEST_F(Locks, RegisterReadsWritesAndCompares) {
  const auto variant = subject("register");
  Speaker client(variant, "c1");
  client.open();
  const auto ask = [&client](const char* f, const Json& value) {
    return client.request({{"f", f}, {"key", "x"}, {"value", value}});
  };
  EXPECT_FALSE(ask("read", nullptr).contains("value"));
  EXPECT_TRUE(is(ask("cas", {nullptr, 1}), "ok"));
  EXPECT_TRUE(is(ask("write", 5), "ok"));
  EXPECT_TRUE(is(ask("cas", {4, 6}), "fail", "mismatch"));
  EXPECT_TRUE(is(ask("cas", {5, 6}), "ok"));
  EXPECT_EQ(ask("read", nullptr)["value"], 6);
  EXPECT_TRUE(is(ask("cas", 6), "fail", "[old, new]"));
}

TEST_F(Locks, RefusalOfTheServerIsAFail) {
  const auto variant = subject("setpx-lua");
  Speaker client(variant, "c1");
  client.open();
  redis_.command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(is(client.request(acquire(1, kLong)), "fail", "OOM"));
  redis_.command({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_TRUE(is(client.request(acquire(2, kLong)), "ok"));
  const std::string nobody = free_address();
  redis_.command({"REPLICAOF", "127.0.0.1", nobody.substr(nobody.find(':') + 1)});
  EXPECT_TRUE(is(client.request(acquire(3, kLong)), "fail", "READONLY"));
  EXPECT_TRUE(is(client.request(release(2)), "fail", "READONLY"));
  EXPECT_TRUE(exists());
}

TEST_F(Locks, TimeoutIsUnknownAndItsLateAnswerIsNotMistaken) {
  const auto variant = subject("setpx-lua", {{"timeout_ms", 200}});
  Speaker client(variant, "c1");
  client.open();
  redis_.signal(SIGSTOP);
  EXPECT_TRUE(is(client.request(acquire(1, kLong)), "info", "timed out"));
  redis_.signal(SIGCONT);
  ASSERT_TRUE(eventually([this] { return exists(); }));  // it did take effect
  // With the late "OK" of the first acquire taken for its own answer, this would be granted.
  EXPECT_TRUE(is(client.request(acquire(2, kLong)), "fail", "held"));
}

TEST_F(Locks, PausedClientGetsItsAnswerAfterwards) {
  const auto variant = subject("setpx-lua");
  Speaker client(variant, "c1");
  client.open();
  redis_.signal(SIGSTOP);
  const auto id = client.send(acquire(1, kLong));
  kill(client.child().pid(), SIGSTOP);
  redis_.signal(SIGCONT);
  kill(client.child().pid(), SIGCONT);
  EXPECT_TRUE(is(client.answer(id), "ok"));
}

TEST_F(Locks, RestartedServerIsMetWithANewConnection) {
  const auto variant = subject("setpx-lua");
  Speaker client(variant, "c1");
  client.open();
  ASSERT_TRUE(is(client.request(acquire(1, kLong)), "ok"));
  redis_.command({"CLIENT", "KILL", "TYPE", "normal"});  // closes the client's connection, as a restart would
  EXPECT_TRUE(is(client.request(release(1)), "ok"));
}

TEST_F(Locks, OpenThatFailedCanBeRepeated) {
  auto variant = subject("setpx-lua");
  variant.servers = {free_address()};
  Speaker client(variant, "c1");
  EXPECT_TRUE(is(client.open(), "fail", "connect: " + variant.servers.front()));
  EXPECT_TRUE(is(client.request(acquire(1, kLong)), "fail", "not open"));
  variant.servers = {redis_.address()};
  EXPECT_EQ(client.open()["value"], (Json{{"protocol", 1}, {"name", "redis-setpx-lua"}}));
  EXPECT_TRUE(is(client.request(acquire(2, kLong)), "ok"));
}

TEST_F(Locks, BadRequestsFailBeforeAnythingIsSent) {
  const auto variant = subject("setpx-lua");
  Speaker client(variant, "c1");
  client.open();
  EXPECT_TRUE(is(client.request({{"f", "acquire"}, {"value", {{"hold", 1}, {"lease_ms", 9}}}}), "fail", "key"));
  EXPECT_TRUE(is(client.request({{"f", "acquire"}, {"key", "L1"}, {"value", {{"lease_ms", 9}}}}), "fail", "hold"));
  EXPECT_TRUE(is(client.request({{"f", "acquire"}, {"key", "L1"}, {"value", {{"hold", 1}}}}), "fail", "lease_ms"));
  EXPECT_FALSE(exists());
}

TEST_F(Locks, EndOfInputDuringAStepEndsTheClientAtOnce) {
  const auto variant = subject("setnx-expire");
  Speaker client(variant, "c1");
  client.open();
  client.step(client.send(stopping(acquire(1, kLong), "setnx-done")));
  client.child().close_input();
  const int status = client.exit_status(std::chrono::seconds(5));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << describe_exit(status);
  EXPECT_EQ(time_to_live(), -1);  // it did not go on with the PEXPIRE
}

}  // namespace
}  // namespace holdfast
