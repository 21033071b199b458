// SETNX, and DEL. No time to live: a holder that dies takes the lock with it.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

class Setnx : public RedisLock {
 public:
  Setnx() : RedisLock("setnx") {}

 protected:
  Answer acquire(const Hold& hold) override {
    const Result result = redis_.command({"SETNX", hold.key, hold.value});
    if (!result.done()) return result.failure();
    return result.integer == 1 ? Answer::ok() : Answer::fail("held");
  }
  Answer release(const Hold& hold) override { return plain_delete(hold); }
  bool needs_lease() const override { return false; }
};

}  // namespace

std::unique_ptr<Adapter> make_setnx() {
  return std::make_unique<Setnx>();
}

}  // namespace holdfast
