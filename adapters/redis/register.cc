// No lock: a register per key, with GET, SET and a scripted compare-and-set. "read" and "write" go to Redis here, not
// to the guarded resource. Values are stored as JSON text; a key that is not there reads as null.
#include "adapters/redis/connection.h"
#include "adapters/redis/variants.h"

namespace holdfast {
namespace {

constexpr std::string_view kCompareAndSet =
    "if (redis.call('GET', KEYS[1]) or 'null') == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) return 1 "
    "else return 0 end";

class Register : public Adapter {
 public:
  std::string_view name() const override { return "redis-register"; }
  bool forwards(std::string_view /*f*/) const override { return false; }

  Answer open(const OpenValue& value) override {
    if (value.servers.empty()) return Answer::fail("open: servers is empty; a register needs one");
    redis_.configure(value.servers.front(), value.timeout);
    const std::string error = redis_.connect();
    return error.empty() ? Answer::ok() : Answer::fail(error);
  }

  Answer invoke(const Request& request) override {
    const bool read = request.f == "read";
    const bool write = request.f == "write";
    if (!read && !write && request.f != "cas") return unsupported(request);
    if (request.key.empty()) return Answer::fail(request.f + ": key is missing");
    if (read) return get(request.key);
    const Json value = request.value();
    if (write) {
      const Result result = redis_.command({"SET", request.key, value.dump()});
      return result.done() ? Answer::ok() : result.failure();
    }
    if (!value.is_array() || value.size() != 2) return Answer::fail("cas: value must be [old, new]");
    const Result result = redis_.command({"EVAL", kCompareAndSet, "1", request.key, value[0].dump(), value[1].dump()});
    if (!result.done()) return result.failure();
    return result.integer == 1 ? Answer::ok() : Answer::fail("mismatch");
  }

 private:
  Answer get(const std::string& key) {
    const Result result = redis_.command({"GET", key});
    if (!result.done()) return Answer::fail(result.error);  // a read changes nothing
    if (!result.text) return Answer::ok();
    Json value = Json::parse(*result.text, nullptr, false);
    if (value.is_discarded()) return Answer::fail("read: " + key + " holds something that is not JSON");
    return Answer::ok(std::move(value));
  }

  Connection redis_;
};

}  // namespace

std::unique_ptr<Adapter> make_register() {
  return std::make_unique<Register>();
}

}  // namespace holdfast
