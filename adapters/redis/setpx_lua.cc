// SET NX PX with a unique value; a script deletes the key only if the value is still ours. What Redis' own
// documentation recommends for one server.
#include "adapters/redis/lock.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

class SetpxLua : public RedisLock {
 public:
  SetpxLua() : RedisLock("setpx-lua") {}

 protected:
  Answer acquire(const Hold& hold) override { return set_nx_px(hold); }
  Answer release(const Hold& hold) override { return compare_and_delete(hold); }
};

}  // namespace

std::unique_ptr<Adapter> make_setpx_lua() {
  return std::make_unique<SetpxLua>();
}

}  // namespace holdfast
