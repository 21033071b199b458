#include "adapters/cpp/lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

class Lines : public testing::Test {
 protected:
  Lines() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Lines() override {
    close(ends_[0]);
    close_writer();
  }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  void put(std::string_view text) const { EXPECT_TRUE(write_all(ends_[1], text)); }

  std::array<int, 2> ends_{};
  LineBuffer buffer_;
};

TEST_F(Lines, ComeOutWholeHoweverTheyCame) {
  put("one\ntw");
  EXPECT_EQ(buffer_.fill(ends_[0]), 6);
  EXPECT_EQ(buffer_.next(), "one");
  EXPECT_EQ(buffer_.next(), std::nullopt);
  put("o\n\nrest");
  EXPECT_GT(buffer_.fill(ends_[0]), 0);
  EXPECT_EQ(buffer_.next(), "two");
  EXPECT_EQ(buffer_.next(), "");
  EXPECT_EQ(buffer_.next(), std::nullopt);
  EXPECT_EQ(buffer_.rest(), "rest");
  close_writer();
  EXPECT_EQ(buffer_.fill(ends_[0]), 0);
}

TEST_F(Lines, SurviveMovingWithinTheBuffer) {
  std::vector<std::string> sent;
  sent.reserve(3000);
  for (std::size_t i = 0; i < 3000; ++i) sent.push_back(std::to_string(i) + std::string(i % 997, 'x'));
  const std::jthread writer([&] {
    for (const std::string& line : sent) put(line + "\n");
    close_writer();
  });
  std::vector<std::string> received;
  while (buffer_.fill(ends_[0]) > 0)
    while (const auto line = buffer_.next()) received.emplace_back(*line);
  EXPECT_EQ(received, sent);
}

TEST_F(Lines, BeyondTheLimitAreRefused) {
  const std::jthread writer([this] {
    put(std::string(kLineLimit + 70000, 'x'));
    close_writer();
  });
  std::ptrdiff_t count = 1;
  std::size_t total = 0;
  while ((count = buffer_.fill(ends_[0])) > 0) {
    total += static_cast<std::size_t>(count);
    EXPECT_EQ(buffer_.next(), std::nullopt);
  }
  EXPECT_EQ(count, -1);
  EXPECT_EQ(errno, EMSGSIZE);
  EXPECT_GT(total, kLineLimit);
  std::array<char, 65536> rest{};
  while (read(ends_[0], rest.data(), rest.size()) > 0) total = 0;  // lets the writer end
  EXPECT_EQ(total, 0U);
}

}  // namespace
}  // namespace holdfast
