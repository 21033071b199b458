// SET NX PX with a unique value; GET, compare, DEL. The lease can run out between GET and DEL, and then the DEL frees
// the lock of the next holder; the step "get-done" stands there.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

class SetpxGetdel : public RedisLock {
 public:
  SetpxGetdel() : RedisLock("setpx-getdel") {}

 protected:
  Answer acquire(const Hold& hold) override { return set_nx_px(hold); }

  Answer release(const Hold& hold) override {
    const Result get = redis_.command({"GET", hold.key});
    // Nothing was deleted, whatever became of the GET.
    if (!get.done()) return Answer::fail("get: " + get.error);
    if (get.text != hold.value) return Answer::fail("not-held");
    announce(hold, "get-done");
    return plain_delete(hold);
  }
};

}  // namespace

std::unique_ptr<Adapter> make_setpx_getdel() {
  return std::make_unique<SetpxGetdel>();
}

}  // namespace holdfast
