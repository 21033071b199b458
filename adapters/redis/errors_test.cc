#include "adapters/redis/errors.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(RedisErrors, RefusalsAreDefinite) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.", "NOAUTH Authentication required.",
        "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down", "MOVED 866 127.0.0.1:7001"})
    EXPECT_TRUE(is_definite(text)) << text;
}

TEST(RedisErrors, EverythingElseIsNot) {
  for (const char* text : {"ERR value is not an integer or out of range", "WRONGTYPE Operation against a key", "",
                           "READONLYISH", "UNKNOWN", "err READONLY"})
    EXPECT_FALSE(is_definite(text)) << text;
}

}  // namespace
}  // namespace holdfast
