// Speaker: the controller's part in a conversation with one client process, which trusts nothing the client says.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/conformance/child.h"

namespace holdfast {

using Json = nlohmann::json;

struct Subject {
  std::vector<std::string> command;
  std::vector<std::string> servers;
  std::optional<std::string> resource;
  Json options = Json::object();
  std::chrono::milliseconds limit{5000};  // for one answer
};

// A rule that was not kept: what happened, what was sent last, and what came back.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Speaker {
 public:
  Speaker(const Subject& subject, std::string client);

  Json open(int protocol = 1);  // the answer
  // Sends a request with the next id; returns its answer.
  Json request(Json request);
  std::uint64_t send(Json request);  // its id
  void send_line(const std::string& line);
  Json answer(std::uint64_t id);
  Json step(std::uint64_t id);            // the announcement of a step
  void expect_silence(std::uint64_t id);  // no answer, and no second one; notes may come
  Json note(std::string_view event);      // the next one with this name
  int exit_status(std::chrono::milliseconds limit);

  // Throws Broken with the last exchange.
  [[noreturn]] void complain(const std::string& what) const;
  void require_ok(const Json& answer) const;
  void require_fail(const Json& answer, const std::string& error) const;

  Child& child() { return child_; }

 private:
  enum class Kind { answer, note, step };
  struct Message {
    Kind kind;
    Json json;
  };
  std::optional<Message> receive(Child::Deadline deadline);
  Kind examine(const Json& message) const;
  Json await(std::uint64_t id, Kind kind);

  const Subject& subject_;
  std::string client_;
  Child child_;
  std::uint64_t next_id_ = 0;
  std::string sent_;
  std::string received_;
};

}  // namespace holdfast
