// Like setpx-lua, and each grant carries a fencing token. The token is drawn by the script that sets the key: drawn by
// a second command, the client could be paused between the two and come back with a token newer than its successor's.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

constexpr std::string_view kSetAndCount =
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) "
    "else return false end";

class SetpxLuaFenced : public RedisLock {
 public:
  SetpxLuaFenced() : RedisLock("setpx-lua-fenced") {}

 protected:
  Answer acquire(const Hold& hold) override {
    const std::string counter = hold.key + ":token";
    const Result result = redis_.command({"EVAL", kSetAndCount, "2", hold.key, counter, hold.value, hold.lease_ms});
    if (!result.done()) return result.failure();
    if (!result.integer) return Answer::fail("held");
    return Answer::ok({{"token", *result.integer}});
  }
  Answer release(const Hold& hold) override { return compare_and_delete(hold); }
};

}  // namespace

std::unique_ptr<Adapter> make_setpx_lua_fenced() {
  return std::make_unique<SetpxLuaFenced>();
}

}  // namespace holdfast
