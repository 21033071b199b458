// Real servers for the tests: a Redis and a guarded resource on loopback, each on a free port, gone with the object.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/conformance/child.h"
#include "adapters/conformance/speaker.h"
#include "adapters/redis/connection.h"

namespace holdfast {

std::string program(const std::string& name);  // the path of a program of this build

// Runs a program to its end; standard error is in the output.
struct Finished {
  std::string output;
  int status = 0;  // as waitpid(2) tells it
};
Finished run_program(const std::vector<std::string>& argv);

// Asks until the answer is yes; false: not within ten seconds.
bool eventually(const std::function<bool()>& condition);

class RedisServer {
 public:
  RedisServer();
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  Result command(std::initializer_list<std::string_view> arguments) { return connection_.command(arguments); }
  void signal(int number) const;
  void end();

 private:
  std::string address_;
  std::unique_ptr<Child> child_;
  Connection connection_;
};

class ResourceServer {
 public:
  ResourceServer();
  [[nodiscard]] const std::string& address() const { return address_; }
  void end();

 private:
  std::string address_;
  std::unique_ptr<Child> child_;
};

std::string free_address();  // "127.0.0.1:40123", free a moment ago

}  // namespace holdfast
