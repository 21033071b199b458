#include "adapters/redis/lock.h"

#include <random>

namespace holdfast {
namespace {

constexpr std::string_view kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

std::string random_text() {
  std::random_device device;
  const std::uint64_t number = (static_cast<std::uint64_t>(device()) << 32U) | device();
  return std::to_string(number);
}

// DEL and its scripted cousin answer with the number of keys that went away.
Answer deleted(const Result& result) {
  if (!result.done()) return result.failure();
  return result.integer == 1 ? Answer::ok() : Answer::fail("not-held");
}

}  // namespace

Answer RedisLock::open(const OpenValue& value) {
  if (value.servers.empty()) return Answer::fail("open: servers is empty; a Redis lock needs one");
  client_ = value.client;
  random_ = random_text();
  redis_.configure(value.servers.front(), value.timeout);
  const std::string error = redis_.connect();
  return error.empty() ? Answer::ok() : Answer::fail(error);
}

Answer RedisLock::invoke(const Request& request) {
  const bool acquiring = request.f == "acquire";
  if (!acquiring && request.f != "release") return unsupported(request);
  if (request.key.empty()) return Answer::fail(request.f + ": key is missing");
  const Json value = request.value();
  if (!value.is_object() || !value.contains("hold") || !value["hold"].is_number_unsigned())
    return Answer::fail(request.f + ": value.hold must be a whole number, 0 or more");
  Hold hold{
      .request = request, .key = request.key, .id = value["hold"].get<std::uint64_t>(), .value = {}, .lease_ms = {}};
  hold.value = client_ + ':' + std::to_string(hold.id) + ':' + random_;
  if (!acquiring) return release(hold);
  if (needs_lease()) {
    if (!value.contains("lease_ms") || !value["lease_ms"].is_number_unsigned() || value["lease_ms"] == 0)
      return Answer::fail("acquire: value.lease_ms must be a whole number above 0");
    hold.lease_ms = std::to_string(value["lease_ms"].get<std::uint64_t>());
  }
  return acquire(hold);
}

Answer RedisLock::set_nx_px(const Hold& hold) {
  const Result result = redis_.command({"SET", hold.key, hold.value, "NX", "PX", hold.lease_ms});
  if (!result.done()) return result.failure();
  return result.nil() ? Answer::fail("held") : Answer::ok();
}

Answer RedisLock::plain_delete(const Hold& hold) {
  return deleted(redis_.command({"DEL", hold.key}));
}

Answer RedisLock::compare_and_delete(const Hold& hold) {
  return deleted(redis_.command({"EVAL", kCompareAndDelete, "1", hold.key, hold.value}));
}

}  // namespace holdfast
