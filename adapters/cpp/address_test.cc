#include "adapters/cpp/address.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace holdfast {
namespace {

TEST(Address, TakesBothFamilies) {
  const auto four = parse_address("10.99.0.1:6379");
  EXPECT_EQ(four.host, "10.99.0.1");
  EXPECT_EQ(four.port, 6379);
  EXPECT_EQ(four.storage.ss_family, AF_INET);
  const auto six = parse_address("[fd00::1]:7700");
  EXPECT_EQ(six.host, "fd00::1");
  EXPECT_EQ(six.storage.ss_family, AF_INET6);
}

TEST(Address, RefusesTheRestByName) {
  for (const char* text :
       {"", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:70000", "10.0.0.1:-1", "host:80", "fd00::1:80"}) {
    try {
      parse_address(text);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), '"' + std::string(text) + "\" is not an address; write it as IP:PORT");
    }
  }
}

}  // namespace
}  // namespace holdfast
