// SETNX, then PEXPIRE as a second command, and DEL. Between the two there is a lock that never expires, which is what
// the step "setnx-done" is for.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

class SetnxExpire : public RedisLock {
 public:
  SetnxExpire() : RedisLock("setnx-expire") {}

 protected:
  Answer acquire(const Hold& hold) override {
    const Result set = redis_.command({"SETNX", hold.key, hold.value});
    if (!set.done()) return set.failure();
    if (set.integer != 1) return Answer::fail("held");
    announce(hold, "setnx-done");
    // Its answer is 0 when the key went away meanwhile. The code in the wild does not look, and neither do we.
    const Result expire = redis_.command({"PEXPIRE", hold.key, hold.lease_ms});
    return expire.done() ? Answer::ok() : expire.failure_half_way();
  }
  Answer release(const Hold& hold) override { return plain_delete(hold); }
};

}  // namespace

std::unique_ptr<Adapter> make_setnx_expire() {
  return std::make_unique<SetnxExpire>();
}

}  // namespace holdfast
