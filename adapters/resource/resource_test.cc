// The guarded resource as a process, reached as clients reach it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "adapters/cpp/resource_link.h"
#include "adapters/testing/servers.h"

namespace holdfast {
namespace {

class Resource : public testing::Test {
 protected:
  Resource() { link_.configure(server_.address(), std::chrono::seconds(5)); }

  std::string ask(const std::string& line) {
    const auto exchange = link_.exchange(line);
    return exchange.error.empty() ? std::string(exchange.line) : exchange.error;
  }
  std::string read(const std::string& value) { return ask(R"({"id":1,"f":"read","key":"L1","value":)" + value + "}"); }
  std::string write(const std::string& value) {
    return ask(R"({"id":2,"f":"write","key":"L1","value":)" + value + "}");
  }

  ResourceServer server_;
  ResourceLink link_;
};

constexpr auto kStaleRead = R"({"id":1,"type":"fail","error":"stale-token"})";
constexpr auto kStaleWrite = R"({"id":2,"type":"fail","error":"stale-token"})";
constexpr auto kWritten = R"({"id":2,"type":"ok"})";

TEST_F(Resource, StartsAtZeroAndKeepsTheLastWrite) {
  EXPECT_EQ(read(R"({"hold":1})"), R"({"id":1,"type":"ok","value":{"value":0}})");
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":1007})"), kWritten);
  EXPECT_EQ(read(R"({"hold":1})"), R"({"id":1,"type":"ok","value":{"value":1007}})");
  EXPECT_EQ(ask(R"({"id":3,"f":"read","key":"L2","value":{"hold":1}})"), R"({"id":3,"type":"ok","value":{"value":0}})");
}

TEST_F(Resource, WithoutTokensAStaleWriteGoesThrough) {
  EXPECT_EQ(write(R"({"hold":2,"was":0,"now":2})"), kWritten);
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":1})"), kWritten);
  EXPECT_EQ(read(R"({"hold":3})"), R"({"id":1,"type":"ok","value":{"value":1}})");
}

TEST_F(Resource, RefusesALowerTokenThanTheHighestItSaw) {
  EXPECT_EQ(write(R"({"hold":2,"was":0,"now":2,"token":18})"), kWritten);
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":1,"token":17})"), kStaleWrite);
  EXPECT_EQ(read(R"({"hold":1,"token":17})"), kStaleRead);
  EXPECT_EQ(write(R"({"hold":2,"was":2,"now":3,"token":18})"), kWritten);
  EXPECT_EQ(read(R"({"hold":2})"), R"({"id":1,"type":"ok","value":{"value":3}})");
}

TEST_F(Resource, AReadWithATokenShutsOutTheOldHolder) {
  EXPECT_EQ(read(R"({"hold":2,"token":18})"), R"({"id":1,"type":"ok","value":{"value":0}})");
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":1,"token":17})"), kStaleWrite);
}

TEST_F(Resource, BadRequestsAreRefused) {
  EXPECT_THAT(ask(R"({"id":4,"f":"acquire","key":"L1"})"), testing::HasSubstr(R"("error":"unsupported: acquire")"));
  EXPECT_THAT(write(R"({"hold":1})"), testing::HasSubstr("value.now is missing"));
  EXPECT_THAT(read(R"({"hold":1,"token":-3})"), testing::HasSubstr("value.token"));
  EXPECT_THAT(ask(R"({"id":4,"f":"read"})"), testing::HasSubstr("key is missing"));
}

TEST_F(Resource, ALineThatIsNotJsonCostsOnlyItsOwnConnection) {
  ResourceLink bad;
  bad.configure(server_.address(), std::chrono::seconds(5));
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":9})"), kWritten);
  EXPECT_EQ(bad.exchange("hello").error, "resource: connection lost");
  EXPECT_EQ(read(R"({"hold":1})"), R"({"id":1,"type":"ok","value":{"value":9}})");
}

TEST_F(Resource, SaysWhetherALostRequestWasSent) {
  EXPECT_EQ(write(R"({"hold":1,"was":0,"now":9})"), kWritten);
  server_.end();
  const std::string line = R"({"id":5,"f":"write","key":"L1","value":{"hold":1,"was":9,"now":10}})";
  EXPECT_TRUE(link_.exchange(line).sent);
  const auto again = link_.exchange(line);
  EXPECT_FALSE(again.sent);
  EXPECT_THAT(again.error, testing::HasSubstr("Connection refused"));
}

TEST_F(Resource, LostConnectionMakesAWriteUnknownAndAReadFail) {
  const RedisServer redis;
  const Subject subject{.command = {program("holdfast-redis-client"), "setpx-lua"},
                        .servers = {redis.address()},
                        .resource = server_.address(),
                        .options = Json::object()};
  const Json read = {{"f", "read"}, {"key", "L1"}, {"value", {{"hold", 1}}}};
  const Json write = {{"f", "write"}, {"key", "L1"}, {"value", {{"hold", 1}, {"was", 0}, {"now", 5}}}};
  Speaker writer(subject, "c1");
  Speaker reader(subject, "c2");
  writer.open();
  reader.open();
  EXPECT_EQ(writer.request(write)["type"], "ok");
  EXPECT_EQ(reader.request(read)["value"], (Json{{"value", 5}}));
  server_.end();
  EXPECT_EQ(writer.request(write)["type"], "info");
  EXPECT_EQ(reader.request(read)["type"], "fail");
  EXPECT_EQ(writer.request(write)["type"], "fail");  // now it cannot even connect
}

TEST_F(Resource, TakenPortIsOneLineWithAddressAndCause) {
  const auto finished = run_program({program("holdfast-resource"), "--listen", server_.address()});
  EXPECT_EQ(describe_exit(finished.status), "exit 1");
  EXPECT_EQ(finished.output, "holdfast-resource: bind " + server_.address() + ": Address already in use\n");
}

TEST(ResourceProgram, BadAddressIsABadArgument) {
  const auto finished = run_program({program("holdfast-resource"), "--listen", "localhost"});
  EXPECT_EQ(describe_exit(finished.status), "exit 254");
  EXPECT_EQ(finished.output, "--listen: \"localhost\" is not an address; write it as IP:PORT\n");
}

}  // namespace
}  // namespace holdfast
