// Connection: one Redis connection that is made when it is needed, and dropped when an answer did not come.
//
// Nothing throws. A Result says what is known of the command: `done` (there is an answer), `refused` (it certainly had
// no effect) or `unknown`. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/cpp/adapter.h"

struct redisContext;

namespace holdfast {

struct Result {
  enum class State : std::uint8_t { done, refused, unknown };
  State state = State::unknown;
  std::string error;                    // unless done
  std::optional<std::int64_t> integer;  // an integer reply
  std::optional<std::string> text;      // a string or status reply; neither: nil

  [[nodiscard]] bool done() const { return state == State::done; }
  [[nodiscard]] bool nil() const { return done() && !integer && !text; }
  // The answer to an operation of which this command is the first that could have an effect.
  [[nodiscard]] Answer failure() const { return state == State::refused ? Answer::fail(error) : Answer::info(error); }
  // The answer to an operation that has already changed something.
  [[nodiscard]] Answer failure_half_way() const { return Answer::info(error); }
};

class Connection {
 public:
  Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void configure(std::string address, std::chrono::milliseconds limit);
  std::string connect();  // an error, or empty; quick when it is connected
  Result command(std::initializer_list<std::string_view> arguments);

 private:
  void drop_if_closed();
  std::string address_;
  std::chrono::milliseconds limit_{};
  struct Free {
    void operator()(redisContext* context) const;
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast
