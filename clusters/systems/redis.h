// One redis-server per node, durable (every write is synced before it is acknowledged), without replication.
#pragma once

#include <memory>

#include "harness/system.h"

namespace holdfast {

std::unique_ptr<Server> make_redis();

}  // namespace holdfast
