// The variants of holdfast-redis-client, one file each.
#pragma once

#include <memory>

#include "adapters/cpp/adapter.h"

namespace holdfast {

std::unique_ptr<Adapter> make_register();
std::unique_ptr<Adapter> make_setnx();
std::unique_ptr<Adapter> make_setnx_expire();
std::unique_ptr<Adapter> make_setpx_del();
std::unique_ptr<Adapter> make_setpx_getdel();
std::unique_ptr<Adapter> make_setpx_lua();
std::unique_ptr<Adapter> make_setpx_lua_fenced();
std::unique_ptr<Adapter> make_setpx_lua_watchdog();

}  // namespace holdfast
