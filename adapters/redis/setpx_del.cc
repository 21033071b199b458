// SET NX PX, and a plain DEL: a holder that comes late frees the lock of the next one.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

class SetpxDel : public RedisLock {
 public:
  SetpxDel() : RedisLock("setpx-del") {}

 protected:
  Answer acquire(const Hold& hold) override { return set_nx_px(hold); }
  Answer release(const Hold& hold) override { return plain_delete(hold); }
};

}  // namespace

std::unique_ptr<Adapter> make_setpx_del() {
  return std::make_unique<SetpxDel>();
}

}  // namespace holdfast
