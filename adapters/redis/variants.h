// The variants of holdfast-redis-client, one file each.
#pragma once

#include <memory>

#include "adapters/cpp/adapter.h"

namespace holdfast {

std::unique_ptr<Adapter> make_setpx_lua();

}  // namespace holdfast
