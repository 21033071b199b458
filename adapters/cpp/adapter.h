// Adapter: a client program around somebody's lock library, as Holdfast starts it on a client node.
//
// A program derives from Adapter, answers open() and invoke(), and hands itself to run_adapter(), which speaks the
// protocol of docs/adapters.md on standard input and output. One operation at a time, on the main thread; note() may
// be called from any thread. "read" and "write" go to the guarded resource without the adapter's doing.
//
// The surprising rule: run_adapter() ends the process by itself when standard input ends, even in the middle of a
// step, because a client without a controller must not touch the lock any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/cpp/envelope.h"

namespace holdfast {

using Json = nlohmann::json;

inline constexpr int kProtocol = 1;

// ok: it took effect. fail: it certainly did not. info: nobody knows.
struct Answer {
  enum class Type : std::uint8_t { ok, fail, info };
  Type type = Type::ok;
  Json value;         // null: left out
  std::string error;  // of fail and info

  static Answer ok(Json value = nullptr) { return {.type = Type::ok, .value = std::move(value), .error = {}}; }
  static Answer fail(std::string error) { return {.type = Type::fail, .value = nullptr, .error = std::move(error)}; }
  static Answer info(std::string error) { return {.type = Type::info, .value = nullptr, .error = std::move(error)}; }
};

struct Request {
  std::uint64_t id = 0;
  std::string f;
  std::string key;
  std::string_view value_text;  // JSON; empty: absent. Valid until the answer is returned or a step was made.
  std::string_view line;        // the whole line, as it came; likewise
  std::string stop_at;          // JSON array of step names; empty: none

  [[nodiscard]] Json value() const { return value_text.empty() ? Json() : Json::parse(value_text); }
};

// What `open` says, taken apart.
struct OpenValue {
  std::string client;
  std::int64_t process = 0;
  std::vector<std::string> servers;
  std::optional<std::string> resource;
  std::chrono::milliseconds timeout{2000};  // options.timeout_ms
  Json options;
};

class Conversation;

class Adapter {
 public:
  Adapter() = default;
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;
  virtual ~Adapter() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // May be called again after it failed. An ok answer needs no value: protocol and name are filled in.
  virtual Answer open(const OpenValue& value) = 0;
  virtual Answer invoke(const Request& request) = 0;
  // Whether this operation goes to the guarded resource.
  [[nodiscard]] virtual bool forwards(std::string_view f) const { return f == "read" || f == "write"; }

  static Answer unsupported(const Request& request) { return Answer::fail("unsupported: " + request.f); }

 protected:
  // Announces a named step of the operation and waits for leave to go on, if the request asked for it.
  void step(const Request& request, std::string_view step, const Json& value);
  // Says something unasked, e.g. note("lost", "L1", {{"hold", 12}}). From any thread.
  void note(std::string_view event, std::string_view key, const Json& value);

 private:
  friend class Conversation;
  Conversation* conversation_ = nullptr;
};

// Returns the program's exit status: 0 at the end of input, 3 after a line that cannot be parsed.
int run_adapter(Adapter& adapter, int input = 0, int output = 1);

}  // namespace holdfast
