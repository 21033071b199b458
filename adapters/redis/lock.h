// RedisLock: what the lock variants have in common. A variant is one file that says how to acquire and how to release.
//
// The value stored under a lock is "<client>:<hold>:<random of this process>": unique, because hold ids are, and to be
// had again from the hold id alone, so that a release needs no memory of the acquire.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/cpp/adapter.h"
#include "adapters/redis/connection.h"

namespace holdfast {

class RedisLock : public Adapter {
 public:
  explicit RedisLock(std::string_view variant) : name_("redis-" + std::string(variant)) {}

  std::string_view name() const override { return name_; }
  Answer open(const OpenValue& value) override;
  Answer invoke(const Request& request) override;

 protected:
  struct Hold {
    const Request& request;
    const std::string& key;
    std::uint64_t id = 0;
    std::string value;     // what is stored under the key
    std::string lease_ms;  // as Redis wants it; empty: none was given
  };
  virtual Answer acquire(const Hold& hold) = 0;
  virtual Answer release(const Hold& hold) = 0;
  [[nodiscard]] virtual bool needs_lease() const { return true; }

  // The commands that several variants share.
  Answer set_nx_px(const Hold& hold);           // SET key value NX PX lease
  Answer plain_delete(const Hold& hold);        // DEL key, whoever holds it
  Answer compare_and_delete(const Hold& hold);  // Lua: DEL only if the value is ours
  void announce(const Hold& hold, std::string_view name) { step(hold.request, name, note_value(hold.id)); }
  static Json note_value(std::uint64_t hold) { return {{"hold", hold}}; }

  Connection redis_;

 private:
  std::string name_;
  std::string client_;
  std::string random_;
};

}  // namespace holdfast
